"""Ends of slices: tensors of the device, ``order[:, : count.long()]``, and ends that may lie behind what is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import agree

PROGRAM = """
    import numpy as np
    import torch
    from torch import nn

    device = torch.device("cuda")
    net = nn.Linear(4, 4).to(device)

    def first(order, count):
        return order[:, : END]MARK

    with torch.no_grad():
        for x in loader:
            y = net(x.to(device))
            for step in range(10):
                count = COUNT
                y = y + first(y, count[0]).sum()
"""
ON_DEVICE = "torch.Tensor([np.floor(4 * step / 10)]).to(device)"


@pytest.mark.parametrize(
    ("end", "count", "mark"),
    [
        ("count.long()", ON_DEVICE, "  # TPU101"),
        ("count.to(torch.int64)", ON_DEVICE, "  # TPU101"),
        ("count.long()", "torch.Tensor([step])", ""),
        ("int(count)", "[step]", ""),
    ],
    ids=range(4),
)
def test_numbers_that_are_made_whole(tmp_path: Path, end: str, count: str, mark: str) -> None:
    agree(tmp_path, "TPU101", main=PROGRAM.replace("END", end).replace("COUNT", count).replace("MARK", mark))


WRITTEN = """\
import torch
from torch import nn

device = torch.device("xla")
net = nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.ones(11, 4).to(device)
out = torch.zeros(11, 4).to(device)
at = 0
for batch in loader:
    net(batch.to(device)).sum().backward()
    optimizer.step()
    with torch.no_grad():
        out[at : END] = VALUE
    at = NEXT
"""


@pytest.mark.parametrize(
    ("end", "following", "value", "becomes"),
    [
        ("at + 8", "at + 7", "net(x[at : at + 8])", "min(at + 8, len(out))"),  # the last part has fewer rows
        ("at + 8", "at + 8", "net(batch)", "min(at + 8, len(out))"),
        ("at + len(batch)", "at + len(batch)", "net(batch)", "at + len(batch)"),
        ("at + 8", "(at + 8) % 64", "net(batch)", "at + 8"),
    ],
)
def test_ends_of_what_is_written(tmp_path: Path, end: str, following: str, value: str, becomes: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(WRITTEN.replace("NEXT", following).replace("END", end).replace("VALUE", value))
    tpulint("check", "train.py", "--select", "TPU201", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert f"out[torch.arange(at, {becomes})] = " in file.read_text()
