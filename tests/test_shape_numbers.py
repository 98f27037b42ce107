"""Sizes that forward passes return beside tensors, which lie on the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

PATCHES = """\
import torch
from torch import nn

class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        x = self.proj(x)
        _, _, H, W = x.shape
        return x.flatten(2), {given}
"""
NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = Patches()

    def forward(self, x):
        x, {taken} = self.patches(x)
        return x * int(2 * {number} - 1){mark}
"""
TRAINING = """\
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    optimizer.zero_grad()
    model(x.cuda()).mean().backward()
    optimizer.step()
"""
PARTS = [
    ("H, W", "H, W", "H", False),
    ("(H, W)", "(H, W)", "W", False),
    ("x.shape", "shape", "shape[1]", False),
    ("x.shape[2:]", "(H, W)", "H", False),
    ("len(x)", "n", "n", False),
    ("x.size(1) // 2", "n", "n", False),
    ("x.mean()", "m", "m", True),
    ("(H, x.mean())", "(H, m)", "H", False),
    ("(H, x.mean())", "(H, m)", "m", True),
    ("x.mean() if self.training else H", "m", "m", True),
]


@pytest.mark.parametrize(("given", "taken", "number", "is_told"), PARTS)
def test_sizes_that_a_part_of_a_module_returns(
    tmp_path: Path, given: str, taken: str, number: str, is_told: bool
) -> None:
    mark = "  # TPU101" if is_told else ""
    net = NET.format(taken=taken, number=number, mark=mark)
    agree(tmp_path, "TPU101", train=PATCHES.format(given=given) + net + TRAINING)


@pytest.mark.parametrize("is_told", [False, True])
def test_sizes_over_files(tmp_path: Path, is_told: bool) -> None:
    net = NET.format(taken="n", number="n", mark="  # TPU101" if is_told else "")
    agree(
        tmp_path,
        "TPU101",
        patches=PATCHES.format(given="x.mean()" if is_told else "H"),
        net="from torch import nn\nfrom patches import Patches\n" + net,
        train="import torch\nfrom net import Net\n" + TRAINING,
    )


BLOCKS = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x, shape):
        h, w = shape
        return self.lin(x) * int(2 * h){mark}, shape

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = Patches()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])

    def forward(self, x):
        x, shape = self.patches(x)
        for block in self.blocks:
            x, shape = block(x, shape)
        return x
"""


@pytest.mark.parametrize(("given", "is_told"), [("(H, W)", False), ("x.amax((0, 1))", True)])
def test_sizes_that_blocks_hand_on(tmp_path: Path, given: str, is_told: bool) -> None:
    blocks = BLOCKS.format(mark="  # TPU101" if is_told else "")
    agree(tmp_path, "TPU101", train=PATCHES.format(given=given) + blocks + TRAINING)


POOLED = """\
import torch
from torch import nn

def pooled(x, shape):
    {unpacked}
    return x{reshaped}, shape

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x, shape):
        x, shape = pooled(self.lin(x), shape)
        return x * int(shape[0]){mark}

"""


def test_sizes_by_what_is_done_with_them(tmp_path: Path) -> None:
    """What a shape is unpacked for tells that it is one, whoever gives it."""
    training = TRAINING.replace("x.cuda()", "x.cuda(), shapes")
    sizes = POOLED.format(unpacked="h, w = shape", reshaped=".view(-1, h, w)", mark="")
    agree(tmp_path, "TPU101", train=sizes + training)
    others = POOLED.format(unpacked="h, w = shape", reshaped=" * h", mark="  # TPU101")
    agree(tmp_path, "TPU101", train=others + training)
