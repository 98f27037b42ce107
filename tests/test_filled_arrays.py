"""Lists that every step adds an array of the device to: they hold tensors until the loop ends, where nobody looks."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

CATALOGUE = load()
PROGRAM = """\
import numpy as np
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(dataset, batch_size=4, drop_last=True)


class Table:
    def append(self, value):
        self.last = value.sum()


table = Table()
for epoch in range(3):
    found = []
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        z = model(x)
        loss = (z - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
{}
    report(found)
"""


def lists(body: str, program: str = PROGRAM) -> list[str]:
    """The lists that could hold tensors."""
    text = program.format(indent(body, "        "))
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    return [index.text(one.append.target) for step in index.step_loops for one in index.filled_arrays.of(step)]


def fixed(body: str, program: str = PROGRAM) -> str:
    """The program with all that is collected kept on the device."""
    text = program.format(indent(body, "        "))
    return lint(SourceFile.from_text(text), Settings(select=("TPU105",), fix=True, unsafe_fixes=True), CATALOGUE).text


@pytest.mark.parametrize(
    ("body", "kept", "read"),
    [
        ("found.append(z.detach().cpu().numpy())", "z.detach()", "[value.cpu().numpy() for value in found]"),
        ("found.append(z.cpu())", "z.detach()", "[value.cpu() for value in found]"),
        ("found.append(y.cpu())", "y.detach()", "[value.cpu() for value in found]"),
        ("found.extend(z.data.cpu().numpy())", "z.data", "[row for value in found for row in value.cpu().numpy()]"),
        ("found.extend(z.tolist())", "z.detach()", "[row for value in found for row in value.tolist()]"),
        ("found += z.cpu().tolist()", "z.detach()", "[row for value in found for row in value.cpu().tolist()]"),
        ("found += list(z.cpu().detach().numpy())", "z.detach()",
         "[row for value in found for row in list(value.cpu().detach().numpy())]"),
        ("found.append(np.asarray(z.cpu().detach().numpy().astype(np.float32)))", "z.detach()",
         "[np.asarray(value.cpu().detach().numpy().astype(np.float32)) for value in found]"),
        ("found.append(z.detach().cpu().numpy().reshape(2, -1))", "z.detach()",
         "[value.cpu().numpy().reshape(2, -1) for value in found]"),
    ],
)  # fmt: skip
def test_a_list_holds_tensors_until_the_loop_ends(body: str, kept: str, read: str) -> None:
    text = fixed(body)
    assert f"        torch_xla.sync()\n        found.append({kept})\n    found = {read}\n    report(found)\n" in text
    assert fixed("", text.replace("{", "{{").replace("}", "}}")) == text


def test_a_list_that_lives_longer_gets_them_behind_the_loop() -> None:
    longer = PROGRAM.replace("    found = []\n", "").replace("for epoch", "found = []\nfor epoch")
    text = fixed("found.extend(z.data.cpu().numpy())", longer)
    assert "    step_found = []\n    for i, (x, y)" in text
    assert "        step_found.append(z.data)\n" in text
    assert "    found.extend(row for value in step_found for row in value.cpu().numpy())\n    report(found)" in text


def test_what_is_computed_in_front_of_the_boundary_is_run_by_it() -> None:
    early = PROGRAM.replace(
        "        loss.backward()\n", "        found.extend(z.argmax(1).cpu().numpy())\n        loss.backward()\n"
    )
    assert lists("", early) == ["found"]
    assert "        found.append(z.argmax(1))\n        loss.backward()\n" in fixed("", early)


@pytest.mark.parametrize(
    "body",
    [
        "found.append(model.weight.detach().cpu().numpy())",  # the next update changes it
        "w = model.weight\nfound.append(w.detach().cpu())",
        "w = model.weight.view(-1)\nfound.append(w.detach().cpu())",
        "found.extend(z.argmax(1).cpu().numpy())",  # would wait for the next step
        "best = z.argmax(1)\nfound.extend(best.cpu().numpy())",
        "found.append(z.cpu())\nz.mul_(2)",
        "found.append(z.cpu())\nz[0] = 0",
        "found.append(z.cpu())\nz.detach().zero_()",
        "found.append(z.cpu())\nz.data.view(-1).mul_(2)",
        "found.append(z.cpu())\nz += 1",
        "found.append(z.cpu())\nprint(len(found))",
        "found.append(z.cpu())\nif len(found) > 9: found.clear()",
        "found.append(z.cpu())\nif i % 100 == 0: report(found)",
        "found.append(z.cpu())\nfound.append(y.cpu())",
        "found.append((i, z.cpu()))",
        "found.append(z.cpu().numpy() * i)",
        "found.append(z.cpu().numpy().reshape(i, -1))",
        "if i % 100 == 0:\n    found.append(z.cpu())",
        "for row in range(3):\n    found.append(z.cpu())",
        "table.append(z.cpu())",
        "lambda: report(found)\nfound.append(z.cpu())",
        "found.append(\n    z.cpu()  # the codes\n)",
        "found.append(x.cpu())",  # the device would keep all that it is trained on
    ],
)
def test_a_list_that_has_to_hold_arrays_at_once(body: str) -> None:
    assert lists(body) == []


def test_lists_are_told_behind_a_boundary_only() -> None:
    """Without one, the boundary comes first, and tells what would wait for the next step."""
    assert lists("found.append(z.cpu())") == ["found"]
    assert lists("found.append(z.cpu())", PROGRAM.replace("        torch_xla.sync()\n", "")) == []


def test_loops_without_an_end_in_sight_keep_arrays() -> None:
    endless = PROGRAM.replace("for i, (x, y) in enumerate(loader):", "while True:").replace(
        "x, y = x.to(device), y.to(device)", "x, y = torch.randn(4, 4).to(device), torch.randn(4, 3).to(device)"
    )
    assert lists("found.append(z.cpu())", endless) == []


def test_numbers_are_stacked() -> None:
    """What was known to be one number is read with others, 64 at a time."""
    assert lists("found.append(loss.cpu().item())") == []
    assert "torch.stack(found[at : at + 64]).tolist()" in fixed("found.append(loss.cpu().item())")
