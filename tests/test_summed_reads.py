"""Numbers of a comprehension that are read one by one to be added up: the sum is made on the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

TRAIN = """\
import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.rand(2, 4), torch.tensor([0, 1]))] * 3:
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    outs = [model(x), model(x)]
    losses = [F.cross_entropy(out, y) for out in outs]
    sum(losses).backward()
    LINE
    optimizer.step()
    torch_xla.sync()
"""


def ported(folder: Path, line: str) -> str:
    (folder / "train.py").write_text(TRAIN.replace("LINE", line))
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU101", "train.py", cwd=folder)
    return (folder / "train.py").read_text()


@pytest.mark.parametrize(
    ("line", "made"),
    [
        (
            "model.weight.grad.mul_(sum(p.grad.norm().item() for p in model.parameters()))",
            "model.weight.grad.mul_(float(sum(p.grad.norm().detach() for p in model.parameters())))",
        ),
        (
            "print(p_norm := sum([p.grad.data.norm(2).item() ** 2 for p in model.parameters()]) ** 0.5)",
            "print(p_norm := float(sum([p.grad.data.norm(2).detach() ** 2 for p in model.parameters()])) ** 0.5)",
        ),
        (
            "model.weight.grad.mul_(sum((out.argmax(1) == y).sum().item() for out in outs))",
            "model.weight.grad.mul_(int(sum((out.argmax(1) == y).sum() for out in outs)))",
        ),
    ],
)
def test_sum_is_read_once(tmp_path: Path, line: str, made: str) -> None:
    assert ported(tmp_path, line) == TRAIN.replace("LINE", made)


def test_number_is_read_behind_the_boundary(tmp_path: Path) -> None:
    line = "norm = sum(p.grad.norm(2).item() ** 2 for p in model.parameters()) ** 0.5\n    print(norm)"
    kept = "norm = sum(p.grad.norm(2).detach() ** 2 for p in model.parameters()).detach() ** 0.5"
    assert ported(tmp_path, line) == TRAIN.replace("LINE", kept) + "    norm = norm.item()\n    print(norm)\n"


@pytest.mark.parametrize(
    "line",
    [
        "model.weight.grad.mul_(sum(out.max().item() for out in outs))",  # of which type?
        "model.weight.grad.mul_(sum(out.mean().item() for out in outs if out.sum() > 0))",
        "model.weight.grad.mul_(max(out.mean().item() for out in outs))",
        "model.weight.grad.mul_(sum((out.mean().item() for out in outs), 1))",
        "model.weight.grad.mul_(sum(str(out.mean().item()) == '' for out in outs))",
    ],
)
def test_other_reads_stay(tmp_path: Path, line: str) -> None:
    assert ported(tmp_path, line) == TRAIN.replace("LINE", line)
