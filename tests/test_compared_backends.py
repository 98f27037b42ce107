"""The name of a backend that is compared with NCCL stays, for the branch it opens; the group is told the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

PROGRAM = """\
import torch.distributed as dist


def start(backend="nccl", alone=False):
    if ASKED:
        dist.init_process_group(backend="gloo", rank=0, world_size=1)
    else:
        dist.init_process_group(backend=backend, init_method="env://")


start()
"""


@pytest.mark.parametrize(
    ("asked", "default"),
    [
        ('backend != "nccl"', "nccl"),
        ('alone or backend not in ("nccl", "cpu:gloo,cuda:nccl")', "nccl"),
        ('alone or "nccl" != backend', "nccl"),
        ("alone", "xla"),
        ('alone == "nccl"', "xla"),
    ],
)
def test_a_default_that_is_compared(tmp_path: Path, asked: str, default: str) -> None:
    """`start()`, and a call of another file with "nccl", would each have made a world of its own."""
    file = tmp_path / "start.py"
    file.write_text(PROGRAM.replace("ASKED", asked))
    tpulint("check", "start.py", "--select", "TPU602", "--fix", "--unsafe-fixes", cwd=tmp_path)
    text = file.read_text()
    told = '"xla"' if default == "nccl" else "backend"
    assert f'def start(backend="{default}", alone=False):\n    if {asked}:' in text
    assert f'dist.init_process_group(backend={told}, init_method="xla://")' in text
    tpulint("check", "start.py", "--select", "TPU602", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert file.read_text() == text
