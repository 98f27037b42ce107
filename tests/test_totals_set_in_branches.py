"""Totals that only a branch sets in front of their loop: what is read behind the loop must find them."""

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


def train(model, loader, optimizer, args):
    device = torch_xla.device()
    model = torch.nn.Linear(4, 1).to(device)
    sums = {{}}
{start}
    for x, y in loader:
        loss = (model(x.to(device)) - y.to(device)).pow(2).mean()
        loss.backward()
        optimizer.step()
{turn}
        torch_xla.sync()
    return sums
"""
IN_BRANCH = "if args.audio:\n    {} += loss.item()"


def findings(start: str, turn: str) -> list[str]:
    text = PROGRAM.format(start=indent(start, " " * 4), turn=indent(turn, " " * 8))
    result = lint(SourceFile.from_text(text), Settings(select=("TPU101", "TPU104")), CATALOGUE)
    return [finding.code for finding in result.findings]


@pytest.mark.parametrize(
    ("start", "target"),
    [
        ("if args.audio:\n    total = 1.0", "total"),
        ("if args.audio:\n    total = 1.0\nelse:\n    steps = 0", "total"),
        ("if args.audio:\n    sums['audio'] = 1.0", "sums['audio']"),
    ],
)
def test_a_total_that_may_be_missing_is_not_added_to_behind_the_loop(start: str, target: str) -> None:
    assert findings(start, IN_BRANCH.format(target)) == ["TPU101"]


@pytest.mark.parametrize(
    ("start", "target"),
    [
        ("total = 1.0", "total"),
        ("if args.audio:\n    total = 1.0\nelse:\n    total = 2.0", "total"),
        ("total = 1.0\nif args.audio:\n    total = 2.0", "total"),
        ("with open(args.path) as file:\n    total = 1.0", "total"),
        ("sums['audio'] = 1.0", "sums['audio']"),
        ("", "args.sums['audio']"),
    ],
)
def test_a_total_that_is_there_is_added_to_behind_the_loop(start: str, target: str) -> None:
    assert findings(start, IN_BRANCH.format(target)) == ["TPU104"]


def test_what_every_turn_adds_to_is_there() -> None:
    assert findings("if args.audio:\n    total = 1.0", "with args.context:\n    total += loss.item()") == ["TPU104"]
