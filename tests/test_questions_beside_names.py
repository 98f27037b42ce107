"""``device == "cuda" and torch.cuda.is_available()`` in a helper file: both halves are answered for XLA, or none."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
SUMMARY = """\
import torch


def summary(model, size, {parameter}):
    device = device.lower()
    if device == "cuda" and torch.cuda.is_available():
        kind = torch.cuda.FloatTensor
    else:
        kind = torch.FloatTensor
    model(torch.rand(2, *size).type(kind))
"""


@pytest.mark.parametrize(("parameter", "is_named"), [('device="cuda"', True), ("device", False)])
def test_the_question_goes_where_the_file_names_the_device(parameter: str, is_named: bool) -> None:
    text = SUMMARY.format(parameter=parameter)
    settings = Settings(fix=True, unsafe_fixes=True)
    fixed = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    assert ('device="xla"' in fixed) is is_named
    assert ("is_available()" not in fixed) is is_named
    assert ('torch_xla.device() if device == "xla" else torch.device("cpu")' in fixed) is is_named
    assert '== "xla" and torch.cuda' not in fixed
    assert lint(SourceFile.from_text(fixed), settings, CATALOGUE).text == fixed
