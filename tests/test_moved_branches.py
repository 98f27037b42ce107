"""Reads under a condition of the step, which move behind its boundary with the condition."""

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
model = torch.nn.Linear(4, 4).to(device)
extractor = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
log = {{"part": [], "whole": []}}
for i, x in enumerate(loader):
    out = model(x.to(device))
    loss = out.pow(2).mean()
{branch}
    optimizer.zero_grad()
    loss.backward()
{between}
    optimizer.step()
    torch_xla.sync()
    if i % 5 == 4:
        torch.save(dict(log), "log.pt")
"""
PART = "part = extractor(out).pow(2).mean()\nloss = loss + part\n"
TAKEN = 'log["part"].append(part.item())'


def fixed(test: str, body: str, between: str = "pass") -> str:
    branch = f"if {test}:\n{indent(body, '    ')}"
    text = PROGRAM.format(branch=indent(branch, "    "), between=indent(between, "    "))
    settings = Settings(select=("TPU101",), fix=True, unsafe_fixes=True)
    return lint(SourceFile.from_text(text), settings, CATALOGUE).text


@pytest.mark.parametrize("test", ["extractor is not None", "extractor", "not args.plain and extractor is not None"])
@pytest.mark.parametrize("body", [PART + TAKEN, f"part = extractor(out).pow(2).mean()\n{TAKEN}\nloss = loss + part"])
def test_a_read_moves_with_its_condition(test: str, body: str) -> None:
    text = fixed(test, body)
    assert f"    torch_xla.sync()\n    if {test}:\n        {TAKEN}\n    if i % 5" in text
    assert text.count(".item()") == 1 and "loss = loss + part" in text


@pytest.mark.parametrize(
    ("context", "moves"),
    [("torch.autocast('xla')", True), ("torch.no_grad(), torch.autocast('xla')", True), ("records()", False)],
)
def test_a_read_moves_out_of_contexts_of_torch(context: str, moves: bool) -> None:
    branch = indent(f"with {context}:\n    if extractor:\n{indent(PART + TAKEN, ' ' * 8)}\n    z = 1", "    ")
    text = PROGRAM.format(branch=branch, between="    pass")
    settings = Settings(select=("TPU101",), fix=True, unsafe_fixes=True)
    text = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    assert (f"    torch_xla.sync()\n    if extractor:\n        {TAKEN}\n" in text) is moves
    assert text.count(".item()") == 1


@pytest.mark.parametrize(
    ("test", "body", "between"),
    [
        ("has_parts(log)", PART + TAKEN, "pass"),  # may answer otherwise
        ("i % 2 == 0", PART + TAKEN, "pass"),
        ("extractor", PART + TAKEN, "extractor = None"),
        ("extractor", PART + TAKEN + "\nextractor = None", "pass"),
        ("extractor", PART + TAKEN, "part = loss / 2"),
        ("extractor", PART + TAKEN, 'if log["part"]:\n    loss = loss * 2'),
        ("extractor", PART + TAKEN, "if i == 9:\n    break"),
        ("extractor", PART + TAKEN + "  # seen", "pass"),
        ("extractor", PART + "for at in range(2):\n    " + TAKEN, "pass"),
        ("extractor", f"{PART}{TAKEN}\nprint(log)", "pass"),
    ],
)
def test_a_read_that_has_to_stay_under_its_condition(test: str, body: str, between: str) -> None:
    text = fixed(test, body, between)
    assert text.index(TAKEN) < text.index("torch_xla.sync()")
