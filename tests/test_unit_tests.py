"""Unit tests of a project, whose loops evaluate nothing.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(8)])

    def forward(self, x, depth):
        for layer in self.layers[: depth - 2]:LOOP
            x = layer(x)
        return x
"""
TEST = """\
import torch
from net import Net


def NAME(GIVEN):
    device = torch.device("xla")
    net = Net().to(device)
    with torch.no_grad():
        for depth in range(2, 9):  # TPU302
            y = net(torch.zeros(4, 4, device=device), depth)
            assert torch.isnan(y).sum() == 0  # TPU103
"""
CODES = "TPU302,TPU103,TPU217"


@pytest.mark.parametrize(
    ("file", "name", "given", "end", "is_told"),
    [
        ("test_net", "test_depths", "", "", False),
        ("test_net", "test_depths", "most", "@pytest.fixture\ndef most():\n    return 9", False),
        ("depths", "depths", "", "", True),
        ("test_net", "test_depths", "", "test_depths()", True),  # a script that tests a model
        ("test_net", "test_depths", "most", "", True),  # another file calls it
    ],
)
def test_loops_of_unit_tests(tmp_path: Path, file: str, name: str, given: str, end: str, is_told: bool) -> None:
    text = f"{TEST.replace('NAME', name).replace('GIVEN', given)}\n\n{end}\n"
    agree(
        tmp_path,
        CODES,
        net=NET.replace("LOOP", "  # TPU217" if is_told else ""),
        **{file: text if is_told else text.replace("# TPU", "# no ")},
    )
