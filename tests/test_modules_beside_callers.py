"""Modules that stand in the file of what calls them, where another file has the loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

BOX = """\
import torch
from torch import nn

class Box(nn.Module):
    def forward(self, pred, mask):
        if mask.sum() > 0:{mark}
            return pred.mean()
        return pred.sum() * 0

"""
CALLERS = {
    "an object that holds it": """\
class Loss:
    def __init__(self):
        self.box = Box().cuda()

    def __call__(self, pred, y):
        return self.box(pred, y > 0)

compute = Loss()
""",
    "an object that holds several": """\
class Loss:
    def __init__(self):
        self.boxes = [Box() for _ in range(3)]

    def __call__(self, pred, y):
        return sum(box(pred, y > 0) for box in self.boxes)

compute = Loss()
""",
    "a function that makes it": "def compute(pred, y):\n    return Box()(pred, y > 0)\n",
    "a function with a variable": "def compute(pred, y):\n    box = Box()\n    return box(pred, y > 0)\n",
    "a function with one for all": "BOX = Box()\n\ndef compute(pred, y):\n    return BOX(pred, y > 0)\n",
}
TRAIN = """\
import torch
from torch import nn
from loss import {name}

compute = {made}
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    compute(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("is_module", [True, False])
def test_what_a_module_reads(tmp_path: Path, caller: str, is_module: bool) -> None:
    box = BOX.format(mark="  # TPU103")
    box = box if is_module else box.replace("forward", "__call__").replace("(nn.Module)", "")
    if not is_module and "several" in caller:
        return  # plain objects in lists are not followed
    compute = CALLERS[caller].replace("compute = Loss()\n", "")
    name, made = ("Loss", "Loss()") if "Loss" in compute else ("compute", "compute")
    train = TRAIN.format(name=name, made=made)
    agree(tmp_path, "TPU103", loss=box + compute, train=train.replace("compute = compute\n", ""))


@pytest.mark.parametrize("call", ["box(pred, y) if False else pred.mean()", "pred.mean() + len(str(box))"])
def test_what_no_step_runs(tmp_path: Path, call: str) -> None:
    """A module that nothing calls, or that a function calls which no step runs, is not read in steps."""
    other = "def other(pred, y):\n    box = Box()\n    return box(pred, y > 0)\n\n"
    unused = BOX.format(mark="") + other + "def compute(pred, y):\n    return pred.mean()\n"
    agree(tmp_path, "TPU103", loss=unused, train=TRAIN.format(name="compute", made="compute"))


def test_rare_calls(tmp_path: Path) -> None:
    """What is called in few turns is not done in every step."""
    rare = "def compute(pred, y, step):\n    if step % 100 == 0:\n        Box()(pred, y > 0)\n    return pred.mean()\n"
    train = TRAIN.format(name="compute", made="compute").replace("y.cuda())", "y.cuda(), 3)")
    agree(tmp_path, "TPU103", loss=BOX.format(mark="") + rare, train=train)
