"""Masks that lists and dictionaries hold, and those that one statement makes together."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

PROGRAM = """\
import torch
import torch.nn.functional as F

device = torch.device("cuda")
model = torch.nn.Linear(8, 3).to(device)
optimizer = torch.optim.Adam(model.parameters())
x, y = torch.randn(100, 8).to(device), torch.randint(0, 3, (100,)).to(device)
drawn = torch.rand(100)
MADE


def evaluate():
    found = model(x).argmax(-1)
    for mask in MASKS:
        right = (found[mask] == y[mask]).sum()MARK
        print(right)


for epoch in range(10):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    evaluate()
"""
TOGETHER = "first, second = (drawn < 0.5).to(device), (drawn > 0.5).to(device)"
KEPT = 'kept = {"train": (drawn < 0.5).to(device), "test": (drawn > 0.5).to(device)}'


@pytest.mark.parametrize(
    ("made", "masks", "are_masks"),
    [
        (TOGETHER, "[first, second]", True),
        (KEPT, "kept.values()", True),
        (KEPT, '[kept["train"], kept["test"]]', True),
        (TOGETHER.replace("(drawn > 0.5)", "torch.arange(5)"), "[first, second]", False),  # places in one of them
        (KEPT.replace("(drawn > 0.5)", "torch.arange(5)"), "kept.values()", False),
        (KEPT.replace("(drawn > 0.5)", "torch.arange(5)"), '[kept["test"]]', False),
        ("kept = masks_of(drawn)", "kept.values()", False),
    ],
)
def test_masks_that_are_kept_together(tmp_path: Path, made: str, masks: str, are_masks: bool) -> None:
    text = PROGRAM.replace("MADE", made).replace("MASKS", masks)
    agree(tmp_path, "TPU203", train=text.replace("MARK", "  # TPU203" if are_masks else ""))
