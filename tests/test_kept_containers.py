"""What comes back otherwise than it was saved: `xm.save` makes lists of tuples and plain dictionaries of others."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

TEXT = """\
import argparse
import random

import numpy as np
import torch
from easydict import EasyDict

model = torch.nn.Linear(4, 2).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
config = EasyDict(lr=0.1)


def save(epoch, path, given):
    {made}
    torch.save({saved}, path)
"""
STATE = '"model": model.state_dict()'


@pytest.mark.parametrize(
    ("made", "saved", "safely", "unsafely"),
    [
        ("pass", f'{{{STATE}, "optimizer": optimizer.state_dict(), "epoch": epoch}}', True, True),
        ("pass", f'{{{STATE}, "torch": torch.get_rng_state(), "numpy": np.random.get_state()}}', True, True),
        ("pass", f'{{{STATE}, "random": random.getstate()}}', False, False),
        ("drawn = random.getstate()", f'{{{STATE}, "random": drawn}}', False, False),
        (f'state = {{{STATE}}}; state["random"] = random.getstate()', "state", False, False),
        ("pass", f'{{{STATE}, "scores": {{(1, 2): 0.5}}}}', False, False),
        ("pass", f'{{{STATE}, "scores": {{(i, i): 0.5 for i in range(3)}}}}', False, False),
        ("pass", f'{{{STATE}, "config": config}}', False, True),
        ("pass", f'{{{STATE}, "other": given}}', False, True),
        ("state = [model.state_dict(), epoch]", "state", True, True),
    ],
)
def test_fix_is_as_safe_as_what_comes_back_is_known(made: str, saved: str, safely: bool, unsafely: bool) -> None:
    """Measured: `random.setstate` of what was saved raises, tuples as keys cannot be saved, and attributes are gone."""
    source = SourceFile.from_text(TEXT.format(made=made, saved=saved))
    for unsafe_fixes, is_fixed in ((False, safely), (True, unsafely)):
        settings = Settings(select=("TPU703",), fix=True, unsafe_fixes=unsafe_fixes)
        result = lint(source, settings, load())
        assert ("xm.save(" in result.text) is is_fixed
        assert [finding.code for finding in result.findings] == ["TPU703"] * (not is_fixed)
