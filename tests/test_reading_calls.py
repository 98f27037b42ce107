"""Calls of functions of other files that read what they compute: they stand behind the step boundary."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

TRAIN = """\
import torch
import torch.nn.functional as F
import torch_xla
from measures import Measure, accuracy, evaluate, keep, shape_of

device = torch_xla.device()
model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for x, y in [(torch.rand(2, 4), torch.tensor([0, 1]))] * 3:
    x, y = x.to(device), y.to(device)
    out = model(x)
    loss = F.cross_entropy(out, y)
    LINES
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
MEASURES = """\
kept = []


def accuracy(out, y):
    return (out.argmax(1) == y).float().mean().item()


def evaluate(model, x):
    return model(x).mean().item()


def keep(out):
    global kept
    kept = out.tolist()


def shape_of(out):
    return list(out.shape)


class Measure:
    def __call__(self, out, y):
        self.last = accuracy(out, y)
"""


def ported(folder: Path, *lines: str) -> str:
    """The training with these lines in front of its backward pass, as fixes leave it."""
    (folder / "measures.py").write_text(MEASURES)
    (folder / "train.py").write_text(TRAIN.replace("LINES", "\n    ".join(lines)))
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU101,TPU102", ".", cwd=folder)
    return (folder / "train.py").read_text()


def behind(*lines: str) -> str:
    return TRAIN.replace("    LINES\n", "") + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "lines",
    [
        ["acc = accuracy(out, y)", "total += acc"],
        ["total += accuracy(out, y)"],
        ["acc = 100 * accuracy(out.detach(), y)", 'print("{:.2f}".format(acc))'],
        ["print(accuracy(out, y), loss.item())"],
    ],
)
def test_call_moves_behind_the_boundary_with_what_needs_it(tmp_path: Path, lines: list[str]) -> None:
    assert ported(tmp_path, *lines) == behind(*lines)


@pytest.mark.parametrize(
    "line",
    [
        "acc = evaluate(model, x)",  # with the weights of before
        "keep(out)",
        "rows = shape_of(out)",  # reads nothing
        "acc = measure(out, y)",
        "acc = accuracy(x, y) if total else 0; loss = loss + acc",  # the step needs it
    ],
)
def test_others_stay_where_they_are(tmp_path: Path, line: str) -> None:
    text = TRAIN.replace("total = 0.0", "total, measure = 0.0, Measure()").replace("LINES", line)
    (tmp_path / "measures.py").write_text(MEASURES)
    (tmp_path / "train.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU101,TPU102", ".", cwd=tmp_path)
    assert (tmp_path / "train.py").read_text() == text
