"""Places that each turn gives a forward pass as Python's numbers: ``net(x, i)``."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x, at: int):
        return self.layer(x)[:, :at]
"""
MAIN = """\
import torch
from net import Net

device = torch.device("cuda")
net = Net().to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i, x in enumerate(loader):
    loss = net(x.to(device), i).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_parameter_is_named_without_its_annotation(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "main.py").write_text(MAIN)
    said = tpulint("--select", "TPU201", ".", cwd=tmp_path).out
    assert "Python's `at` becomes" in " ".join(said.split())


POSES = """\
import torch
from torch import nn


class Poses(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Parameter(torch.zeros(20, 3))

    def forward(self, at):
        return self.rows[at]
"""
BOTH = """\
import numpy as np
import torch
from poses import Poses


def show(net):
    with torch.no_grad():
        return [net(i).cpu() for i in range(20)]


poses = Poses().to(torch.device("cuda"))
optimizer = torch.optim.SGD(poses.parameters(), lr=0.1)
places = np.arange(20)
for at in places:
    loss = poses(GIVEN).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
show(poses)
"""


@pytest.mark.parametrize(("given", "is_told"), [("at", True), ("torch.tensor([at])", False)])
def test_an_evaluation_counts_where_the_training_takes_an_element_of_an_array(
    tmp_path: Path, given: str, is_told: bool
) -> None:
    (tmp_path / "poses.py").write_text(POSES)
    (tmp_path / "main.py").write_text(BOTH.replace("GIVEN", given))
    said = tpulint("--select", "TPU201", "--output-format", "concise", ".", cwd=tmp_path).out
    assert ("poses.py:11" in said) is is_told
