"""States of a file that `assign=True` puts in the place of parameters of the device, which stay on the host then."""

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


def read(path):
    return torch.load(path, map_location="cpu")


def made(path):
    return {"weight": torch.zeros(2, 4, device="xla")}


with torch.device("meta"):
    net = torch.nn.Linear(4, 2)
"""


@pytest.mark.parametrize(
    ("place", "state", "is_told"),
    [
        ('device="xla"', 'torch.load("net.pt", map_location="cpu")', True),
        ("device=torch_xla.device()", 'read("net.pt")', True),
        ('device="cpu"', 'read("net.pt")', False),
        ('device="xla"', 'made("net.pt")', False),
    ],
)
def test_models_that_are_emptied_onto_the_device(place: str, state: str, is_told: bool) -> None:
    text = f"{START}net.to_empty({place})\nnet.load_state_dict({state}END)\n"
    settings = Settings(select=("TPU705",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text.replace("END", ", assign=True")), settings, CATALOGUE)
    assert result.text == text.replace("END", "" if is_told else ", assign=True") and not result.findings
