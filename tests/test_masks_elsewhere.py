"""Masks that functions give, of this file or another."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import SETUP, agree

TRAINING = """\
import torch
from torch import nn
from boxes import chosen

device = torch.device("cuda")
model = nn.Linear(8, 3).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    x, y = x.to(device), y.to(device)
    opt.zero_grad()
    part = chosen(y)
    loss = model(x)[part].sum()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("y > 0", True),
        ("y.view(-1).float() != 0", True),
        ("y == 1 if wide else y == 0", False),
        ("y * 2", False),  # places
        ("y.size(0) > 3", False),
        ("y is not None", False),
    ],
)
def test_masks_of_another_file(tmp_path: Path, given: str, told: bool) -> None:
    (tmp_path / "boxes.py").write_text(f"def chosen(y):\n    return {given}\n")
    (tmp_path / "train.py").write_text(TRAINING)
    found = tpulint("check", ".", "--select", "TPU203", "--output-format", "concise", cwd=tmp_path)
    assert ("TPU203" in found.out) is told


@pytest.mark.parametrize(("given", "told"), [("x.sum(1) > 0", True), ("x.argmax(1)", False)])
def test_masks_of_methods(tmp_path: Path, given: str, told: bool) -> None:
    head = "class Head(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    head += "        self.lin = nn.Linear(8, 4)\n"
    head += f"    def chosen(self, x):\n        return {given}\n"
    head += "    def forward(self, x):\n        out = self.lin(x)\n        return out[self.chosen(out)]\n\n"
    text = TRAINING.replace("from boxes import chosen\n", head).replace("nn.Linear(8, 3)", "Head()")
    (tmp_path / "train.py").write_text(text.replace("    part = chosen(y)\n", "").replace("[part]", ""))
    found = tpulint("check", ".", "--select", "TPU203", "--output-format", "concise", cwd=tmp_path)
    assert ("TPU203" in found.out) is told


def test_masks_that_a_list_holds(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in loader:
        out = model(x.to(device))
        masks = []
        places = []
        for row in range(4):
            masks.append(out[row] > 0)
            places.append(out[row].argmax(-1, keepdim=True))
        masks = torch.cat(masks)
        places = torch.cat(places)
        loss = out.view(-1)[masks].sum() + out.view(-1)[places].sum()  # TPU203
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU203", main=program)


@pytest.mark.parametrize(
    ("made", "given", "is_told"),
    [
        ("flatten = lambda x: x.reshape(-1)", "y > 0", True),
        ("flatten = lambda x: x.contiguous().view(-1)", "(y > 0).type(torch.bool)", True),
        ("def flatten(x): return x.reshape(-1)", "y > 0", True),
        ("flatten = lambda x: x.reshape(-1).long()", "y > 0", False),
        ("flatten = lambda x: x.reshape(-1)", "y.long()", False),
        ("flatten = lambda x, y=None: y.reshape(-1)", "y > 0", False),
        ("def flatten(x): return x.reshape(-1)", "y.long()", False),
    ],
)
def test_masks_that_are_laid_out_anew(tmp_path: Path, made: str, given: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    def train(loader):
        {made}
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            out = flatten(model(x))
            loss = out[flatten({given})].mean(){"  # TPU203" * is_told}
            loss.backward()
            optimizer.step()
    """
    )
    agree(tmp_path, "TPU203", main=program)


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ("self.mask = self.made(size).to(device)", True),
        ("self.mask = self.made(size).type(torch.bool).cuda()", True),
        ("self.register_buffer('mask', ~torch.eye(size, dtype=torch.bool))", True),
        ("self.mask = self.made(size)", False),  # a plain attribute stays on the host when the module moves
        ("self.mask = torch.arange(size).to(device)", False),  # places
        ("self.register_buffer('mask', torch.arange(size))", False),
    ],
)
def test_masks_that_a_module_keeps(tmp_path: Path, kept: str, told: bool) -> None:
    program = f"""
    import numpy as np
    import torch
    from torch import nn

    class Contrast(nn.Module):
        def __init__(self, size, device):
            super().__init__()
            {kept}

        def made(self, size):
            mask = torch.from_numpy(np.eye(size))
            return (1 - mask).type(torch.bool)

        def forward(self, z):
            similarity = z @ z.T
            return similarity[self.mask].mean()
    """
    (tmp_path / "contrast.py").write_text(dedent(program))
    text = TRAINING.replace("from boxes import chosen\n", "from contrast import Contrast\n")
    text = text.replace("    part = chosen(y)\n", "").replace("model(x)[part].sum()", "contrast(model(x))")
    text = text.replace("for x, y", "contrast = Contrast(8, device).to(device)\nfor x, y")
    (tmp_path / "train.py").write_text(text)
    found = tpulint("check", ".", "--select", "TPU203", "--output-format", "concise", cwd=tmp_path)
    assert ("TPU203" in found.out) is told
