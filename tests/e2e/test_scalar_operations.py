"""The table of numbers that are constants of a graph says what torch_xla does."""

from __future__ import annotations

import ast
import json
import os
import subprocess

import pytest
from harness import HERE, XLA_PYTHON, has_xla
from scalar_operations import operations

from tpulint.semantic import SemanticIndex
from tpulint.semantic.graphs import graph_numbers as table
from tpulint.source import SourceFile

SETUP = """\
import torch
import torch.nn.functional as F
device = torch.device("cuda")
width = 8
x, image, tall = (torch.rand(16, width, device=device) for _ in range(3))
x = torch.rand(16, width, device=device)
image = torch.rand(16, width, device=device)
tall = torch.rand(16, width, device=device)
mean, mask, y = torch.rand(8, device=device), torch.rand(8, device=device), torch.rand(8, device=device)
result = lambda v, z: """


def is_constant(text: str) -> bool:
    """Whether the table says so of the number ``v`` in an expression."""
    source = SETUP + text.replace("gradient(lambda z: ", "(")
    index = SemanticIndex(SourceFile.from_text(source), ast.parse(source))
    found: list[ast.expr] = []
    for node in ast.walk(index.tree.module):
        if isinstance(node, ast.Call):
            found += [*index.graph_numbers.sizes(node), *index.graph_numbers.constants(node)]
        if isinstance(node, ast.Call | ast.BinOp):
            found += index.graph_numbers.exponents(node)
    # A range whose limits move together is told by the rule, by its size; here the whole number counts.
    return any(isinstance(part, ast.Name) and part.id == "v" for node in found for part in ast.walk(node))


@pytest.mark.parametrize("text", [text for text, _ in operations(True)])
def test_constant_is_in_the_table(text: str) -> None:
    assert is_constant(text)


# `hardtanh` has the number as an input in the forward pass alone; training has the backward pass as well. In a power
# the number stands in a tensor, which is no number.
@pytest.mark.parametrize(
    "text", [text for text, _ in operations(False) if text != "F.hardtanh(x, -v, v)" and "**" not in text]
)
def test_input_is_not_in_the_table(text: str) -> None:
    assert not is_constant(text)


def test_every_entry_has_an_operation() -> None:
    written = " ".join(text for text, _ in operations(True))
    functions = {**table._SIZES, **table._EXPONENTS, **table._CONSTANTS}
    one_of_a_family = ("pool", "conv", "upsample", "split", "chunk", "rot90", "randperm", "adaptive")
    missing = [
        name
        for name in functions
        if f"{name.replace('torch.nn.functional', 'F')}(" not in written
        and not any(part in name for part in one_of_a_family)
    ]
    assert missing == []


@pytest.mark.xla
@pytest.mark.slow
@pytest.mark.skipif(not has_xla(), reason="torch_xla is not installed (extra xla)")
def test_constants_are_compiled_for_every_number_and_inputs_once() -> None:
    done = subprocess.run(
        [XLA_PYTHON, str(HERE / "scalar_operations.py")],
        env={**os.environ, "PJRT_DEVICE": "CPU", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    counts: dict[str, list[int]] = json.loads(done.stdout.splitlines()[-1])
    # The first number may meet a graph or two of its own; from the fourth on it is told which sort it is.
    assert {text: counts[text][1] for text, _ in operations(True)} == {text: 3 for text, _ in operations(True)}
    assert {text: counts[text][1] for text, _ in operations(False)} == {text: 0 for text, _ in operations(False)}
