"""Sums behind the boundary of their turn: those that move to the device move in front of it, where they may."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
TRAINING = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.Adam(model.parameters())
total = right = 0
losses = {"sum": 0.0}
for step, (x, y) in enumerate(loader):
    output = model(x.to(device))
    loss = output.mean()
    loss.backward()
    optimizer.step()
"""
EVALUATION = """\
import torch
import torch_xla


def evaluate(model, batches, measure, device):
    model.eval()
    losses = 0
    with torch.no_grad():
        for x, y in batches:
            output = model(x.to(device))
            losses += measure(output, y.to(device)).mean(0).item()
    return losses
"""


def port(text: str) -> str:
    select = ("TPU101", "TPU102", "TPU104", "TPU301", "TPU302")
    settings = Settings(select=select, fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert not result.error
    assert lint(SourceFile.from_text(result.text), settings, CATALOGUE).text == result.text
    return result.text


def train(rest: str) -> str:
    """What becomes of the turn of a training loop from its update on."""
    text = port(TRAINING + indent(dedent(rest), "    "))
    return dedent(text.partition("    optimizer.step()\n")[2])


@pytest.mark.parametrize("boundary", ["", "torch_xla.sync()\n"])
def test_sums_behind_what_is_shown_now_and_then(boundary: str) -> None:
    turn = train(
        boundary
        + dedent("""\
        # shown now and then
        if step % 100 == 0:
            print(step, loss.item())
        total += loss.item()
        right += (output.argmax(1) == y.to(device)).sum().item()  # of all
        """)
    )
    assert turn == dedent("""\
        total += loss.detach()
        right += (output.argmax(1) == y.to(device)).sum()  # of all
        torch_xla.sync()
        # shown now and then
        if step % 100 == 0:
            print(step, loss.item())
        """)


@pytest.mark.parametrize(
    "between",
    [
        "if step % 100 == 0:\n    print(total)\n    total = 0\n",  # looks at the sum
        "loss = output.sum()\nif step % 100 == 0:\n    print(loss.item())\n",  # what is added is made there
        "if step < 10:\n    continue\n",
    ],
)
def test_sums_that_stay_behind_the_boundary(between: str) -> None:
    turn = train("torch_xla.sync()\n" + between + "total += loss.item()\n")
    assert turn.startswith("torch_xla.sync()\n")
    assert "\ntotal += loss.detach()\n" in turn


def test_sums_stay_behind_what_the_fix_itself_changes() -> None:
    turn = train("""\
        torch_xla.sync()
        if step % 100 == 0:
            print(total)
            total = 0
        total += loss.item()
        right += (output.argmax(1) == y.to(device)).sum().item()
        """)
    assert turn == dedent("""\
        torch_xla.sync()
        if step % 100 == 0:
            print(total.item())
            total = torch.zeros(1).to(device)
        total += loss.detach()
        right += (output.argmax(1) == y.to(device)).sum()
        """)


def test_statements_of_one_row_stay_where_they_are() -> None:
    turn = train("torch_xla.sync(); print(step)\ntotal += loss.item()\n")
    assert turn == "torch_xla.sync(); print(step)\ntotal += loss.detach()\n"


def test_what_a_measure_that_nobody_knows_gives_is_added_in_front_of_the_boundary() -> None:
    assert port(EVALUATION).endswith("""\
            output = model(x.to(device))
            losses += measure(output, y.to(device)).mean(0)
            torch_xla.sync()
        losses = losses.item()
    return losses
""")
