"""Where imports of a project start: a `setup.py` within it builds an extension, and is not the top of another."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

MODELS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=rate)

    def train_step(self, x, y):
        loss = (self.fc(x) - y).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss
"""
TRAIN = """\
from pkg.sub.models import Net
from samples import loader

model = Net(0.1)
model = model.cuda(){told}
for x, y in loader:
    model.train_step(x.cuda(), y.cuda())
"""
TOLD = "  # TPU303"


@pytest.mark.parametrize(
    ("setup", "package", "top", "is_found"),
    [
        ("pkg", True, ".git", True),
        ("pkg", False, ".git", True),
        ("pkg/sub", False, ".git", True),
        ("pkg/sub", False, "setup.py", True),
        ("", False, "setup.py", True),
        ("pkg/sub", False, "", False),  # the project is the folder: what lies above is not its own
    ],
)
def test_what_lies_beside_a_setup(tmp_path: Path, setup: str, package: bool, top: str, is_found: bool) -> None:
    folder = tmp_path / "project"
    (folder / "pkg/sub").mkdir(parents=True)
    for name in (f"{setup}/setup.py", "pkg/__init__.py" if package else "", top):
        if name:
            (folder / name.lstrip("/")).touch()
    files = {"pkg/sub/models": MODELS, "pkg/sub/train": TRAIN.format(told=TOLD if is_found else "")}
    agree(folder, "TPU303", **files)
