"""States of the device that functions of other files make, fill in or hand on, until `torch.save` writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

MAIN = """\
import torch
import files
from torch import nn

net = nn.Linear(4, 4).cuda()
host = nn.Linear(4, 4)
{}
"""
FILES = """\
import torch


def write(*args, **kwargs):
    torch.save(*args, **kwargs)


def fill(net, path, state):
    state["net"] = {}
    torch.save(state, path)


def state_of(net):
    {}
"""


@pytest.mark.parametrize(
    ("line", "state", "returned", "saved"),
    [
        ('files.write({"net": net.state_dict()}, "a.pt")', "1", "return 1", "files"),
        ('files.write({"net": 3}, "a.pt")', "1", "return 1", ""),
        ('files.write(obj={"net": net.state_dict()}, f="a.pt")', "1", "return 1", ""),
        ('files.fill(net, "a.pt", {"epoch": 1})', "net.state_dict()", "return 1", "files"),
        ('files.fill(net, "a.pt", {"epoch": 1})', "len(net)", "return 1", ""),
        ('torch.save({"net": files.state_of(net)}, "a.pt")', "1", "return net.state_dict()", "main"),
        (
            'state = files.state_of(net)\ntorch.save(state, "a.pt")',
            "1",
            'return {"net": net.module.state_dict() if hasattr(net, "module") else net.state_dict()}',
            "main",
        ),
        (
            'torch.save(files.state_of(net), "a.pt")',
            "1",
            "return {k: v.cpu() for k, v in net.state_dict().items()}",
            "",
        ),
        ('torch.save(files.state_of(net), "a.pt")', "1", "return len(net.state_dict())", ""),
        ('torch.save(files.state_of("net"), "a.pt")', "1", "return net.state_dict()", ""),
    ],
)
def test_what_other_functions_do_with_a_state(tmp_path: Path, line: str, state: str, returned: str, saved: str) -> None:
    (tmp_path / "main.py").write_text(MAIN.format(line))
    (tmp_path / "files.py").write_text(FILES.format(state, returned))
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    for name in ("main", "files"):
        assert ("xm.save(" in (tmp_path / f"{name}.py").read_text()) is (name == saved), name
