"""Models, and parts of them, that `DataParallel` itself moves where there is one GPU: without it nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

PROGRAM = """\
import torch
from torch import nn
from helpers import build, build_there, place

device = torch.device("cuda")


class Net(nn.Module):
    def __init__(self, at=None):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)


def main():
    {made}
    for step in range(4):
        x = torch.randn(8, 4)
        {run}
"""
HELPERS = """\
from torch import nn


def build(size):
    return nn.Linear(size, 2)


def build_there(size):
    return nn.Linear(size, 2).cuda()


def place(net):
    net.cuda()
"""


def ported(folder: Path, **files: str) -> str:
    """The file ``main`` after all fixes; a second run changes nothing."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=folder)
    text = (folder / "main.py").read_text()
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=folder)
    assert text == (folder / "main.py").read_text()
    return text


@pytest.mark.parametrize(
    ("made", "run", "line"),
    [
        ("net = nn.DataParallel(nn.Linear(4, 2))", "net(x)", "net = nn.Linear(4, 2).to(device)"),
        ("net = nn.DataParallel(Net())", "net(x)", "net = Net().to(device)"),
        ("net = nn.DataParallel(build(4))", "net(x)", "net = build(4).to(device)"),
        ("net = nn.DataParallel(Net(), device_ids=[0])", "net(x.cuda())", "net = Net().to(device)"),
        ("net = Net()\n    net = nn.DataParallel(net)", "net(x)", "net = net.to(device)"),
        ("net = Net()\n    wrapped = nn.DataParallel(net)", "wrapped(x)", "wrapped = net.to(device)"),
        ("net = nn.DataParallel(Net() if big else nn.Linear(4, 2))", "net(x)",
         "net = (Net() if big else nn.Linear(4, 2)).to(device)"),
        # Something else moves it.
        ("net = nn.DataParallel(Net().cuda())", "net(x)", "net = Net().to(device)"),
        ("net = nn.DataParallel(Net()).cuda()", "net(x)", "net = Net().to(device)"),
        ("net = nn.DataParallel(Net())\n    net.cuda()", "net(x)", "net.to(device)"),
        ("net = Net()\n    net.cuda()\n    net = nn.DataParallel(net)", "net(x)", "net.to(device)"),
        ("net = nn.DataParallel(Net())\n    place(net)", "net(x)", "net = Net()"),
        ("net = nn.DataParallel(build_there(4))", "net(x)", "net = build_there(4)"),
        ("net = nn.DataParallel(Net(device))", "net(x)", "net = Net(device)"),
        # What it is given, nobody knows, and nothing else is on a device.
        ("net = nn.DataParallel(Net())", "net(choose(x))", "net = Net()"),
    ],
)  # fmt: skip
def test_models_that_the_wrapper_moved(tmp_path: Path, made: str, run: str, line: str) -> None:
    text = ported(tmp_path, main=PROGRAM.format(made=made, run=run), helpers=HELPERS)
    assert "DataParallel" not in text
    assert f"    {line}\n" in text, text
    assert text.count("net.to(") + text.count(").to(device)\n    for") <= 1


def test_a_part_of_a_module_moves_with_it(tmp_path: Path) -> None:
    main = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.DataParallel(nn.Linear(4, 2))

    def forward(self, x):
        return self.layer(x)


net = Net().cuda()
print(net(torch.ones(1, 4).cuda()))
"""
    assert "self.layer = nn.Linear(4, 2)\n" in ported(tmp_path, main=main)


def test_a_wrapped_argument_is_left_to_its_callers(tmp_path: Path) -> None:
    main = """\
import torch
from torch import nn


def train(net, loader):
    net = nn.DataParallel(net)
    for x, y in loader:
        nn.functional.mse_loss(net(x.cuda()), y.cuda()).backward()
"""
    text = ported(tmp_path, main=main)
    assert "DataParallel" not in text and "net.to(" not in text
