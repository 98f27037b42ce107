"""Losses that are fetched together: one that is made with a dimension on some way is made a number first."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

STEP = """\
import torch
import torch.nn.functional as F
from parts import other_losses


class Learner:
    def __init__(self, net, task):
        self.net, self.task = net.to("xla"), task

    def fit(self, loader, opt):
        for x, y in loader:
            x, y = x.to("xla"), y.to("xla")
            main, other = {called}
            loss = main + other
            loss.backward()
            opt.step()
            print(main.item(), other.item())

    def losses(self, x, y):
        main = F.cross_entropy(self.net(x), y)
        if self.task == 0:
            other = torch.zeros(1, device="xla")
        else:
            other = F.mse_loss(x, self.net(x))
        return main, other

    def plain(self, x, y):
        out = self.net(x)
        return F.cross_entropy(out, y), F.mse_loss(out, x)

    def of_one(self, x):
        return torch.ones(1, device="xla") if self.task == 0 else x.mean()
"""
PARTS = """\
import torch
import torch.nn.functional as F


def other_losses(net, x, y):
    if y is None:
        return net(x).mean(), torch.zeros((1,), device=x.device)
    return F.cross_entropy(net(x), y), net(x).mean()
"""


@pytest.mark.parametrize(
    ("called", "stacked"),
    [
        ("self.losses(x, y)", "(main, other.reshape(()))"),
        ("other_losses(self.net, x, y)", "(main, other.reshape(()))"),
        ("x.mean(), self.of_one(x)", "(main, other.reshape(()))"),
        ("self.plain(x, y)", "(main, other)"),
    ],
)
def test_a_loss_of_one_element(tmp_path: Path, called: str, stacked: str) -> None:
    """`torch.zeros(1)` stands for no loss: `torch.stack` takes tensors of one shape only."""
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "train.py").write_text(STEP.format(called=called))
    tpulint("check", ".", "--select", "TPU1,TPU301", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert f"torch.stack({stacked}).detach()" in (tmp_path / "train.py").read_text()
