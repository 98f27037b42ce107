"""Leaves on the host that are moved: which of them may be made on the device instead."""

from __future__ import annotations

from textwrap import indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
PROGRAM = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    start = torch.rand(8, 4)
    moved = start.requires_grad_(True).to(device)
{body}
    optimizer.zero_grad()
    model(moved).mean().backward()
    optimizer.step()
    torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("body", "is_mended"),
    [
        ("slope = torch.autograd.grad(model(moved).sum(), moved)[0]", True),
        ("with torch.no_grad():\n    moved += 1", True),  # a leaf lets this happen
        ("moved.data.add_(1)", True),
        ("moved.register_hook(print)", True),
        ("moved += 1", False),
        ("moved.add_(1)", False),
        ("moved[0] = 1", False),
        ("moved[0] += 1", False),
        ("slope = torch.autograd.grad(model(moved).sum(), start)[0]", False),
        ("model(moved).sum().backward()\nprint(start.grad.shape)", False),
        ("start = start + 1\nprint(start.grad)", True),  # another tensor
    ],
)
def test_what_is_changed_in_place_or_asked_on_the_host_is_no_leaf_of_the_device(body: str, is_mended: bool) -> None:
    text = PROGRAM.format(body=indent(body, "    "))
    assert len(lint(SourceFile.from_text(text), Settings(select=("TPU140",)), CATALOGUE).findings) == 1
    settings = Settings(select=("TPU140",), fix=True, unsafe_fixes=True)
    fixed = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    made = "start.to(device).requires_grad_(True)" if is_mended else "start.requires_grad_(True).to(device)"
    assert f"    moved = {made}\n" in fixed
