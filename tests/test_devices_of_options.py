"""Devices that options hold, and that a file with checkpoints is handed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

MAIN = """\
import torch
from options import read
from store import restore, save

config = read()
net = torch.nn.Linear(4, 1).to({at})
state = restore("net.pt", {{"net": net}}, {given})
{run}
"""
STORE = """\
import torch


def restore(path, state, where):
    loaded = torch.load(path, map_location=where)
    state["net"].load_state_dict(loaded["net"])
    return state


def save(path, state):
    torch.save({"net": state["net"].state_dict()}, path)
"""
RUN = "for x in state['rows']:\n    net(x).backward()"


@pytest.mark.parametrize(
    ("at", "given", "is_told"),
    [
        ("config.device", "config.device", True),
        ("config.device", "config.rows", False),
        ("config.device", '"cpu"', False),
        ("config.dtype", "config.device", False),  # nothing moves there
    ],
)
def test_checkpoints_that_are_loaded_to_it(tmp_path: Path, at: str, given: str, is_told: bool) -> None:
    (tmp_path / "main.py").write_text(MAIN.format(at=at, given=given, run=RUN))
    (tmp_path / "store.py").write_text(STORE)
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    text = (tmp_path / "store.py").read_text()
    assert ('map_location="cpu"' in text) is is_told
    assert ("xm.save(" in text) is is_told
