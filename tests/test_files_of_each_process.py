"""Checkpoints that each process writes for itself: `xm.save` writes that of the first alone, if not told otherwise."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
START = """\
import os
import torch
import torch.distributed as dist
import torch_xla.core.xla_model as xm

net = torch.nn.Linear(4, 4).to("xla")
rank = dist.get_rank()
step = 3
"""


@pytest.mark.parametrize(
    ("path", "is_own"),
    [
        ('f"net_{rank}.pt"', True),
        ('os.path.join("out", "net_%d.pt" % args.local_rank)', True),
        ('"net_{}.pt".format(dist.get_rank())', True),
        ("path", True),
        ('f"net_{step}.pt"', False),
        ('"rank.pt"', False),
    ],
)
@pytest.mark.parametrize("end", ["", ","])
def test_files_of_each_process(path: str, is_own: bool, end: str) -> None:
    start = START + 'path = f"net_{step}_{rank}.pt"\n'
    settings = Settings(select=("TPU703",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(f"{start}torch.save(net.state_dict(), {path}{end})\n"), settings, CATALOGUE)
    own = ", master_only=False" * is_own
    assert result.text == f"{start}xm.save(net.state_dict(), {path}{own}{end})\n" and not result.findings


def test_files_under_a_condition_on_the_rank() -> None:
    save = '{}.save(net.state_dict(), f"net_{{rank}}.pt")'
    text = f"{START}if rank == 0:\n    {save}\n"
    settings = Settings(select=("TPU703",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text.format("torch")), settings, CATALOGUE)
    assert "master_only" not in result.text


@pytest.mark.parametrize(
    ("given", "is_state"),
    [
        ('{"net": net.state_dict()}, "net.pt"', True),
        ('{"net": net.state_dict()}, f="net.pt"', False),
        ('[1, 2], "net.pt"', False),
    ],
)
def test_functions_that_hand_on_all_that_they_save(given: str, is_state: bool) -> None:
    text = f"{START}def save(*args, **kwargs):\n    MODULE.save(*args, **kwargs)\n\n\nsave({given})\n"
    settings = Settings(select=("TPU703",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text.replace("MODULE", "torch")), settings, CATALOGUE)
    assert result.text == text.replace("MODULE", "xm" if is_state else "torch") and not result.findings
