"""Options of a program that a forward pass is given are no tensors, whatever is asked of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

MAIN = """\
import argparse
import torch
from torch import nn
from nets import Net
from samples import loader

parser = argparse.ArgumentParser()
parser.add_argument("--box", action="store_true")
args = parser.parse_args()
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    x = x.cuda()
    loss = nn.functional.cross_entropy(net(x, {given}), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NETS = """\
from torch import nn

def mix(out, {name}):
    chosen = {name}{asked}
    if chosen:{mark}
        out = out * 2
    return out

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, {name}{default}):
        return self.fc(mix(x, {name}))
"""


@pytest.mark.parametrize("default", ["", "=None"])
@pytest.mark.parametrize("name", ["args", "cfg"])
def test_options_decide_nothing_on_the_device(tmp_path: Path, name: str, default: str) -> None:
    nets = NETS.format(name=name, asked=".box", mark="", default=default)
    agree(tmp_path, "TPU103,TPU102", main=MAIN.format(given="args"), nets=nets)


@pytest.mark.parametrize(("name", "given"), [("weight", "x"), ("weight", "make(x)"), ("args", "x")])
def test_tensors_do(tmp_path: Path, name: str, given: str) -> None:
    nets = NETS.format(name=name, asked=".sum() > 0", mark="  # TPU103", default="=None")
    agree(tmp_path, "TPU103", main=MAIN.format(given=given), nets=nets)
