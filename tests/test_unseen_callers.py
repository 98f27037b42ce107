"""Places that a parameter chooses: not made a list of one where a caller that nobody follows may give a tensor."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

SDE = """\
import torch
import torch_xla
from torch import nn


class Sde:
    def __init__(self, count, device):
        self.count = count
        self.thetas = torch.linspace(0, 1, count + 1).to(device)

    def drift(self, x, score, t):
        return self.thetas[t] * (x - score)

    def mean(self, x, score, t):
        return x - self.drift(x, score, t)

    def reverse(self, net, x):
        for t in reversed(range(1, self.count + 1)):
            x = self.mean(x, net(x), t)
            torch_xla.sync()
        return x


device = torch_xla.device()
net = nn.Linear(4, 4).to(device)
with torch.no_grad():
    print(Sde(100, device).reverse(net, torch.randn(8, 4).to(device)).sum().item())
"""
TRAIN = """\
import torch
from registry import build


def train(options, net, x, i):
    sde = build(options)
    t = torch.randint(1, 101, (8, 1))
    CALL
"""


@pytest.mark.parametrize(
    ("call", "is_fixed"),
    [
        ("sde.mean(x, net(x), t.to(x.device))", False),
        ("sde.drift(x, net(x), t.to(x.device))", False),
        ("options.run(sde.mean)", False),
        ("sde.mean(*options.given)", False),
        ("sde.mean(x, net(x), 7)", True),
        ("[sde.mean(x, net(x), i) for i in range(9)]", True),
        ("sde.reverse(net, x)", True),
    ],
)
def test_a_place_that_another_file_may_give_a_tensor_for(tmp_path: Path, call: str, is_fixed: bool) -> None:
    """`thetas[[t]][0]` of a tensor is what belongs to its first element, for the whole batch."""
    (tmp_path / "sde.py").write_text(SDE)
    (tmp_path / "train.py").write_text(TRAIN.replace("CALL", call))
    result = tpulint("check", ".", "--select", "TPU201", "--fix", "--unsafe-fixes", cwd=tmp_path)
    text = (tmp_path / "sde.py").read_text()
    assert ("self.thetas[[t]][0]" in text) is is_fixed, result.out
    assert ("self.thetas[t]" in result.out) is not is_fixed


@pytest.mark.parametrize(
    ("signature", "first"),
    [("t: int", "pass"), ("t", "if t > 9:\n            x = x.clone()"), ("t", "range(t)")],
)
def test_a_place_that_says_itself_to_be_a_number(tmp_path: Path, signature: str, first: str) -> None:
    text = SDE.replace(
        "score, t):\n        return self.th", f"score, {signature}):\n        {first}\n        return self.th"
    )
    (tmp_path / "sde.py").write_text(text)
    (tmp_path / "train.py").write_text(TRAIN.replace("CALL", "sde.mean(x, net(x), t.to(x.device))"))
    tpulint("check", ".", "--select", "TPU201", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert "self.thetas[[t]][0]" in (tmp_path / "sde.py").read_text()
