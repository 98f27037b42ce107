"""Storages, which have neither ``to`` nor ``type_as``: they are told of and left as they are."""

from __future__ import annotations

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
{before}

def convert(one, x):
    return one.type(x.to(device).type())
"""


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("made = torch.Storage(4).cuda()", "made = torch.Storage(4).cuda()"),
        ("made = torch.FloatStorage(4)\nmoved = made.cuda()", "moved = made.cuda()"),
    ],
)
def test_storages_are_left_as_they_are(before: str, kept: str) -> None:
    text = PROGRAM.format(before=before)
    settings = Settings(select=("TPU002", "TPU003"), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert kept in result.text
    assert "one.type(x.to(device).type())" in result.text
    assert sorted(one.code for one in result.findings) == ["TPU002", "TPU003"]


def test_tensors_of_a_file_without_storages_are_mended() -> None:
    text = PROGRAM.format(before="made = torch.zeros(4).cuda()")
    settings = Settings(select=("TPU002", "TPU003"), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert "made = torch.zeros(4).to(device)" in result.text
    assert "one.type_as(x.to(device))" in result.text
    assert not result.findings
