"""Places that each turn gives a forward pass as Python's numbers: ``net(x, i)``."""

from __future__ import annotations

from pathlib import Path

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
