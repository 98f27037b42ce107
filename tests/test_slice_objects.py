"""Slices that have a name: what is indexed with them, and when a tensor of the same places may take their part."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint
from marked_files import SETUP, agree

DATA = """\
data = torch.randn(4096, 4).to(device)
target = torch.zeros(4096, 4).to(device)
turned = torch.randn(4, 4096).to(device)
table = torch.zeros(4096, 4).to(device)
names = [str(row) for row in range(4096)]
"""


def _program(step: str) -> str:
    ending = "    loss.backward()\n    optimizer.step()\n"
    return dedent(SETUP) + DATA + "for i in range(256):\n" + indent(dedent(step), "    ") + ending


@pytest.mark.parametrize(
    ("step", "written"),
    [
        (  # ends where both do, as far as is said
            """\
            batch = slice(i * 16, min(i * 16 + 16, 4096))
            loss = F.mse_loss(model(data[batch]), target[batch])
            """,
            """\
            batch = torch.arange(i * 16, min(i * 16 + 16, 4096))
            loss = F.mse_loss(model(data[batch]), target[batch])
            """,
        ),
        (  # of one tensor, whose end is known
            """\
            batch = slice(i * 16, (i + 1) * 16)
            loss = model(data[batch]).mean() + data[batch].mean()
            """,
            """\
            batch = torch.arange(i * 16, min((i + 1) * 16, len(data)))
            loss = model(data[batch]).mean() + data[batch].mean()
            """,
        ),
        (
            """\
            columns = slice(i * 16, (i + 1) * 16)
            loss = model(turned[:, columns].t()).mean()
            """,
            """\
            columns = torch.arange(i * 16, min((i + 1) * 16, turned.size(1)))
            loss = model(turned[:, columns].t()).mean()
            """,
        ),
        (  # without a name
            "loss = model(data[slice(i * 16, i * 16 + 16)]).mean()\n",
            "loss = model(data[torch.arange(i * 16, min(i * 16 + 16, len(data)))]).mean()\n",
        ),
        (  # what is written
            """\
            batch = slice(i * 16, min((i + 1) * 16, len(data)))
            output = model(data[batch])
            table[batch] = output.detach()
            loss = output.mean()
            """,
            """\
            batch = torch.arange(i * 16, min((i + 1) * 16, len(data)))
            output = model(data[batch])
            table[batch] = output.detach().to(table.dtype)
            loss = output.mean()
            """,
        ),
    ],
)
def test_places_are_a_tensor_instead(tmp_path: Path, step: str, written: str) -> None:
    assert _fixed(tmp_path, step) == _program(written)


@pytest.mark.parametrize(
    "step",
    [
        # no tensor, or another thing than an index
        """\
        batch = slice(i * 16, min(i * 16 + 16, 4096))
        print(names[batch])
        loss = model(data[batch]).mean()
        """,
        """\
        batch = slice(i * 16, min(i * 16 + 16, 4096))
        print(batch.start)
        loss = model(data[batch]).mean()
        """,
        # two tensors, neither of which says where the slice ends
        """\
        batch = slice(i * 16, i * 16 + 16)
        loss = F.mse_loss(model(data[batch]), target[batch])
        """,
        # a view that is written into
        """\
        batch = slice(i * 16, min(i * 16 + 16, 4096))
        table[batch].fill_(0)
        loss = model(data[batch]).mean()
        """,
        # steps, and no end
        """\
        batch = slice(i * 16, min(i * 16 + 16, 4096), 2)
        loss = model(data[batch]).mean()
        """,
        # a tensor that there is only behind the slice
        """\
        batch = slice(i * 16, i * 16 + 16)
        shifted = data + i
        loss = model(shifted[batch]).mean()
        """,
        # a part that may be empty
        """\
        batch = slice(i * 16, min(i * 16 + 16, 4096))
        part = data[batch]
        if part.shape[0] == 0:
            break
        loss = model(part).mean()
        """,
        # other places beside it
        """\
        batch = slice(i * 16, min(i * 16 + 16, 4096))
        loss = model(data[batch]).mean() + data[batch, [0, 1]].mean()
        """,
    ],
)
def test_what_needs_the_slice_keeps_it(tmp_path: Path, step: str) -> None:
    assert _fixed(tmp_path, step) == _program(step)


def test_what_is_told_of(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    import random

    data = torch.randn(4096, 4).to(device)
    held = torch.randn(4096, 4)
    first = slice(0, 16)
    for i in range(256):
        batch = slice(i * 16, i * 16 + 16)
        some = slice(random.randint(1, 9))
        loss = model(data[batch]).mean()  # TPU201
        loss = loss + model(held[batch].to(device)).mean() + data[first].mean() + data[slice(4, None)].mean()
        loss = loss + data[:, batch].mean() + data[some].mean()  # TPU201 TPU201
        for k in range(4):
            loss = loss + data[slice(k, k + 4)].mean()
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU201", train=program)


def _fixed(folder: Path, step: str) -> str:
    script = folder / "train.py"
    script.write_text(_program(step))
    assert "TPU201" in tpulint("--select", "TPU201", "train.py", cwd=folder).out
    tpulint("--select", "TPU201", "--fix", "--unsafe-fixes", "train.py", cwd=folder)
    return script.read_text()
