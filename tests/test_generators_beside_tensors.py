"""Random generators on the device of a tensor, or on one that a configuration names: XLA has none."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
START = """\
import torch
import torch_xla
from torch import nn

config = read()
device = torch.device({place})
net = nn.Linear(4, 4).to(device)
x = torch.ones(4).to("xla")
other = torch.ones(4)


def place_of(module):
    return next(module.parameters()).device


"""


@pytest.mark.parametrize(
    ("place", "given", "raises"),
    [
        ('"xla"', "x.device", True),
        ('"xla"', "net.weight.device", True),
        ('"xla"', "next(net.parameters()).device", True),
        ('"xla"', "place_of(net)", True),
        ('config["device"]', "device", True),
        ('config["device"]', "other.device", False),
        ('"cpu"', "device", False),
        ('config.get("device", "cpu")', "device", False),
        ('"xla"', '"cpu"', False),
    ],
)
def test_generators_beside_tensors(place: str, given: str, raises: bool) -> None:
    text = START.format(place=place) + "generator = torch.Generator(device={})\n"
    result = lint(
        SourceFile.from_text(text.format(given)),
        Settings(select=("TPU001",), fix=True, unsafe_fixes=True),
        CATALOGUE,
    )
    made = "torch.Generator()" if raises else f"torch.Generator(device={given})"
    assert result.text.endswith(f"generator = {made}\n") and not result.findings
