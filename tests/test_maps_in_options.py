"""A `device_map` that models are given in a dictionary of options."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CODE = """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

options = {options}
other = {{"device_map": "balanced"}}
{line}
"""
LOAD = 'net = AutoModelForCausalLM.from_pretrained("gpt2", **options)'


@pytest.mark.parametrize(
    ("options", "line", "told"),
    [
        ('{"device_map": "balanced"}', LOAD, 1),
        ('{"device_map": "auto"} if shared else {}', LOAD, 1),
        ('{"device_map": {"": 0}, "use_cache": False}', f"{LOAD}\nreference = {LOAD[6:]}", 1),
        ('{"device_map": "cpu"}', LOAD, 0),
        ('{"use_cache": False}', LOAD, 0),
        ("read()", LOAD, 0),
        ('{"device_map": "balanced"}', 'AutoTokenizer.from_pretrained("gpt2", **options)', 0),
    ],
)
def test_maps_in_options(options: str, line: str, told: int) -> None:
    source = SourceFile.from_text(CODE.format(options=options, line=line), "train.py")
    assert [one.code for one in lint(source, Settings(select=("TPU804",)), load()).findings] == ["TPU804"] * told
