"""Totals that start in front of all epochs, and what is written at the end of a row and behind it."""

from __future__ import annotations

from textwrap import indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.edits import one_change
from tpulint.linter import lint
from tpulint.model import Edit, Span
from tpulint.source import SourceFile

CATALOGUE = load()
PROGRAM = """\
import torch
import torch_xla


def train(model, loader, writer, args):
    device = torch_xla.device()
    model = torch.nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total, logged = 0.0, 0.0
    steps = 0
    for epoch in range(3):
        for step, (x, y) in enumerate(loader):
            loss = (model(x.to(device)) - y.to(device)).pow(2).mean()
            loss.backward()
            total += loss.item()
            optimizer.step()
            optimizer.zero_grad()
            torch_xla.sync()
            steps += 1
{within}{between}
{behind}
"""
LOG = """\
if steps % 100 == 0:
    scalar = (total - logged) / 100
    writer.add_scalar("loss", scalar, steps)
    logged = total
if steps > args.max_steps:
    break
"""


def fixed(within: str = LOG, between: str = "", behind: str = "    return steps, total / steps") -> str:
    between = indent(f"\n{between}", " " * 8).rstrip()
    text = PROGRAM.format(within=indent(within, " " * 12).rstrip(), between=between, behind=behind)
    settings = Settings(select=("TPU104",), fix=True, unsafe_fixes=True)
    return lint(SourceFile.from_text(text), settings, CATALOGUE).text


@pytest.mark.parametrize(
    "between", ["else:\n    continue\nbreak", "", "if steps > args.max_steps:\n    break", "print(steps, logged)"]
)
def test_a_total_of_all_epochs_is_read_when_they_are_over(between: str) -> None:
    """The idiom of the examples of Transformers: the difference to what was logged before."""
    text = fixed(between=between)
    assert "    total, logged = torch.zeros(1).to(device), 0.0\n" in text
    assert "            total += loss.detach()\n" in text
    assert "scalar = (total.item() - logged) / 100\n" in text and "logged = total.item()\n" in text
    assert text.endswith("    total = total.item()\n    return steps, total / steps\n")
    assert text.count("total = total.item()") == 1


def test_a_total_may_be_bound_anew_behind_all_epochs() -> None:
    text = fixed(behind="    total = total / steps\n    return total")
    assert "    total = total.item()\n    total = total / steps\n" in text


@pytest.mark.parametrize(
    ("between", "behind"),
    [
        ("print(total)", ""),
        ("total = total / 2", ""),
        ("", "    return lambda: total"),
    ],
)
def test_a_total_that_is_looked_at_between_epochs_stays_on_the_host(between: str, behind: str) -> None:
    assert "total += loss.item()\n" in fixed(between=between, behind=behind)


def test_the_end_of_a_row_and_the_rows_behind_it() -> None:
    """The last statement of the loop needs the number, and so does what stands behind the loop."""
    text = fixed("if steps % 100 == 0:\n    print(total - logged)\n    logged = total", behind="    return total")
    assert "logged = total.item()\n    total = total.item()\n" in text


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        ((".item()", "\n    y = 1"), [".item()\n    y = 1"]),
        (("\r\n    y = 1", ".item()"), [".item()\r\n    y = 1"]),
        ((".item()", ".cpu()"), None),
        (("\n    z = 1", "\n    y = 1"), None),
    ],
)
def test_insertions_at_one_place_are_joined_where_their_order_is_clear(
    texts: tuple[str, str], joined: list[str] | None
) -> None:
    source = SourceFile.from_text("if x:\n    x = total\n")
    for pair in (texts, texts[::-1]):
        edits = one_change([Edit(Span(19, 19), text) for text in pair], source)
        assert (None if edits is None else [edit.text for edit in edits]) == joined


ZERO = "torch.zeros(1).to(device)"
EVERY = "if steps % 100 == 0:\n    print(total / 100)\n    total = 0.0"


@pytest.mark.parametrize("reset", ["total = 0.0", "print(steps)\ntotal, steps = 0.0, 0", "total = logged = 0.0"])
@pytest.mark.parametrize("within", ["", EVERY])
def test_a_total_that_is_set_back_behind_each_epoch(within: str, reset: str) -> None:
    """It starts anew with a tensor there as well."""
    text = fixed(within, reset, "    return steps")
    assert "            total += loss.detach()\n" in text
    assert f"    total, logged = {ZERO}, 0.0\n" in text and "total.item()" not in text.replace("print(total.item()", "")
    behind = text[text.index("torch_xla.sync()") :]
    assert behind.count(ZERO) == (2 if within else 1)
    assert f"{reset}\n" not in behind or f"        total = logged = 0.0\n        total = {ZERO}\n" in behind


@pytest.mark.parametrize("reset", ["total = 0.0", "print(steps)\ntotal = 0.0"])
def test_the_total_of_an_epoch_is_read_behind_it(reset: str) -> None:
    text = fixed(EVERY, f"print(total)\n{reset}", "    return steps")
    assert "        total = total.item()\n        print(total)\n" in text
    assert text.count("total = total.item()") == 1


@pytest.mark.parametrize(
    ("between", "behind"),
    [
        ("total = 0.0\nprint(total)", ""),
        ("total = 0.0", "    return total"),
        ("if steps > 9:\n    continue\ntotal = 0.0", ""),
        ("if steps > 9:\n    total = 0.0", ""),
        ("total = 1.0", ""),
        ("total += steps\ntotal = 0.0", ""),
        ("for total in loader:\n    pass\ntotal = 0.0", ""),
    ],
)
def test_a_total_that_may_be_a_number_in_the_next_epoch_stays_on_the_host(between: str, behind: str) -> None:
    assert "total += loss.item()\n" in fixed(EVERY, between, behind)
