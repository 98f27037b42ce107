"""Elements of a batch that are put back, on the device, where they were taken from."""

from __future__ import annotations

import pytest
from test_host_sync_rules import check

START = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 2).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)

def place(batch):
    for k, v in batch.items():
        batch[k] = v.to(device)
    return batch

for batch in loader:
    PLACED
    print(READ)
    loss = nn.functional.mse_loss(model(batch["x"].to(device)), batch["y"].to(device))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("placed", "read", "told"),
    [
        ('batch["x"] = batch["x"].to(device)', 'batch["x"].sum().item()', True),
        ("batch[0] = batch[0].to(device)", "batch[0].sum().item()", True),
        ("for k in batch:\n        batch[k] = batch[k].to(device)", 'batch["x"].sum().item()', True),
        ("for k, v in batch.items():\n        batch[k] = v.to(device)", 'float(batch["x"].sum())', True),
        ("batch = place(batch)", 'batch["x"].sum().item()', True),
        ('batch["y"] = batch["y"].to(device)', 'batch["x"].sum().item()', False),  # another one
        ('batch["x"] = batch["x"].float()', 'batch["x"].sum().item()', False),
        ("for k in names:\n        batch[k] = batch[k].to(device)", 'batch["x"].sum().item()', False),
        ('if wide:\n        batch["x"] = batch["x"].to(device)', 'batch["x"].sum().item()', False),
        ("batch[0] = torch.ones(8).to(device)", "batch[0].sum().item()", False),  # into a tensor, perhaps
        (
            "for k, v in batch.items():\n        if torch.is_tensor(v):\n            batch[k] = v.to(device)",
            'batch["x"][0]',
            False,
        ),
        ("batch = place(batch)\n    batch['x'] = batch['x'].cpu()", 'batch["x"].sum().item()', False),
        ("n = 1", 'batch["x"].sum().item()', False),
    ],
)
def test_elements_that_are_put_back(placed: str, read: str, told: bool) -> None:
    found = check(START.replace("PLACED", placed).replace("READ", read), ("TPU101",))
    assert bool(found) is told
