"""Tables that may have fewer rows than a batch holds: leaving out the last batch must not leave out everything."""

from __future__ import annotations

import pytest
from ported_bodies import port

BODY = """\
from torch.utils.data import DataLoader, TensorDataset
size = {size}
device = torch.device("xla")
net = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
rows = TensorDataset({rows})
loader = DataLoader(rows, batch_size={batch}, {order})
for (x,) in loader:
    optimizer.zero_grad()
    net(x.to(device)).mean().backward()
    optimizer.step()
"""
AVERAGE = "print(total / len(loader.dataset))\n"


OWN = """\
class TensorDataset(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, at):
        return self.rows[at]

    def __len__(self):
        return len(self.rows)
"""


@pytest.mark.parametrize(
    ("rows", "batch", "order", "left"),
    [
        ("x", "size", "shuffle=True", "drop_last=len(rows) >= size"),
        ("x", "500", "shuffle=True, drop_last=False", "drop_last=len(rows) >= 500"),
        ("torch.zeros(65, 4)", "size", "shuffle=True", "drop_last=True"),
        ("x", "args.size // 2", "shuffle=True", "drop_last=True"),
        ("x", "size", "sampler=torch.utils.data.RandomSampler(rows)", "drop_last=True"),
    ],
)
def test_rows_that_a_function_is_given(rows: str, batch: str, order: str, left: str) -> None:
    assert f"{left})" in port(BODY.format(size=32, rows=rows, batch=batch, order=order))


def test_averages_of_loaders_that_may_keep_a_batch() -> None:
    text = port(BODY.format(size=32, rows="x", batch="size", order="shuffle=True") + AVERAGE)
    assert "total / (len(loader) * loader.batch_size if loader.drop_last else len(loader.dataset))" in text


def test_tables_of_the_project() -> None:
    body = BODY.format(size=32, rows="x", batch="size", order="shuffle=True")
    text = port(body.replace("DataLoader, TensorDataset\n", "DataLoader\n" + OWN))
    assert "drop_last=len(rows) >= size)" in text
