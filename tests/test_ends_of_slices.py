"""Ends of slices that are tensors of the device: ``order[:, : count.long()]`` of a parameter."""

from __future__ import annotations

from pathlib import Path

import pytest
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
