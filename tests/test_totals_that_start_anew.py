"""Totals of device tensors that start anew in every epoch: where they can start with a tensor, and where not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint, write
from marked_files import fill

ZEROS = "torch.zeros(1).to(device)"
COUNT = "torch.zeros(1, dtype=torch.long).to(device)"
PROGRAM = """\
    import torch
    import torch_xla
    import torch.nn.functional as F
    from torch import nn

    device = torch_xla.device()
    model = nn.Linear(4, 2).to(device)
    optimizer = torch.optim.Adam(model.parameters())


    def train(loader, shown):
        for epoch in range(3):
            START
            for step, (x, y) in enumerate(loader):
                x, y = x.to(device), y.to(device)
                output = model(x)
                loss = F.cross_entropy(output, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                INSIDE
                torch_xla.sync()
            BEHIND


    train(batches, [])
    """


def _fixed(folder: Path, start: str, inside: str, behind: str) -> list[str]:
    """The lines of the program that are others with the fix of the rule."""
    text = fill(dedent(PROGRAM), START=start, INSIDE=inside, BEHIND=behind)
    path = write(folder / "main.py", text)
    tpulint("--isolated", "--fix", "--unsafe-fixes", "--select", "TPU223", "main.py", cwd=folder)
    before = text.splitlines()
    return [line.strip() for line in path.read_text().splitlines() if line not in before]


@pytest.mark.parametrize(
    ("start", "inside", "behind", "expected"),
    [
        ("total = 0", "total += loss", "print(total / 9)", [f"total = {ZEROS}", "total = total[0]"]),
        (
            "total = 0",
            "total += F.mse_loss(output, x[:, :2], reduction='sum') + nn.CrossEntropyLoss(reduction='mean')(output, y)",
            "print(total)",
            [f"total = {ZEROS}", "total = total[0]"],
        ),
        (
            "right = 0",
            "right += (output.argmax(1) == y).sum()",
            "print(f'{right:d}')",
            [f"right = {COUNT}", "right = right[0]"],
        ),
        (
            "total, right = 0.0, 0",
            "total += loss.data * len(y)\nright = right + output.argmax(1).eq(y).sum()",
            "shown.append(total.item())",
            [f"total, right = {ZEROS}, {COUNT}", "total = total[0]"],
        ),
        (
            "total = 0.0",
            "total += loss.detach()\nif step % 100 == 99:\n    print(f'{total / 100:.3f}')\n    total = 0.0",
            "pass",
            [f"total = {ZEROS}", "print(f'{total[0] / 100:.3f}')", f"total = {ZEROS}"],
        ),
    ],
)
def test_a_total_that_starts_with_a_tensor(
    tmp_path: Path, start: str, inside: str, behind: str, expected: list[str]
) -> None:
    assert _fixed(tmp_path, start, inside, behind) == expected


@pytest.mark.parametrize(
    ("start", "inside", "behind"),
    [
        ("total = 0", "total += output.sum()", "print(total)"),  # may be whole numbers, for all that is known
        ("total = 0.0", "total += F.cross_entropy(output, y, reduction='none')", "print(total)"),  # several numbers
        ("total = 0.0", "total += nn.MSELoss(reduction='none')(output, x[:, :2])", "print(total)"),
        ("total = 0.0", "total += F.mse_loss(output, x[:, :2], reduce=False)", "print(total)"),
        ("total = 0.0", "total += loss.detach()\nshown.append(total)", "print(total)"),  # seen in every step
        ("total = 0.0\nlook = lambda: total", "total += loss.detach()", "print(look())"),
        ("total = 1.0", "total += loss.detach()", "print(total)"),
        ("total = 0.0", "total += loss.detach()", "print(locals())"),
    ],
)
def test_a_total_that_stays_as_it_is(tmp_path: Path, start: str, inside: str, behind: str) -> None:
    assert _fixed(tmp_path, start, inside, behind) == []
