"""Functions that make the loaders of several phases: what is left out of one is left out of all."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

SETTINGS, CATALOGUE = Settings(fix=True, unsafe_fixes=True, select=("TPU501",)), load()
CODE = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from samples import read, names

def load(root, {parameter}, shuffle=True):
    {row}
    return DataLoader(read(root), batch_size=8, shuffle=shuffle)

net = nn.Linear(4, 4).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loaders = {made}
for x, y in loaders["train"]:
    loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ALL = '{name: load("r", name) for name in names}'
ONE = '{"train": load("r", "train")}'


def left_out(row: str, made: str, parameter: str = "phase") -> str:
    """What decides whether the last batch is left out; empty without a fix."""
    code = CODE.replace("{row}", row).replace("{made}", made).replace("{parameter}", parameter)
    result = lint(SourceFile.from_text(code, "train.py"), SETTINGS, CATALOGUE)
    changed = result.text.partition("drop_last=")[2].partition(")")[0]
    assert bool(changed) is (result.text != code)
    return changed


@pytest.mark.parametrize("parameter", ["phase", "split", "mode"])
def test_loaders_of_names_that_do_not_show(parameter: str) -> None:
    assert left_out("pass", ALL, parameter) == ""
    assert left_out("pass", ONE, parameter) == "shuffle"


def test_another_parameter_says_nothing_of_phases() -> None:
    assert left_out("pass", ONE.replace('"r", "train"', '"r", 3'), "size") == "shuffle"


def test_what_the_function_asks() -> None:
    plain = 'root = root if phase == "train" else "test"'
    assert left_out(plain, ALL) == 'phase == "train"'
    assert left_out(plain + '\n    root = root if phase == "train_plain" else "test"', ALL) == ""


BRANCHES = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from samples import rows

def load(mode):
    if mode == "{phase}":
        return DataLoader(rows, batch_size=16, shuffle=True)
    elif mode == "test":
        return DataLoader(rows, batch_size=8)
    elif mode == "train":
        return None

net = nn.Linear(4, 4).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in load("{phase}"):
    loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
    opt.zero_grad()
    loss.backward()
    opt.step()
for x, y in load("test"):
    print(net(x.cuda()))
"""


@pytest.mark.parametrize(("phase", "left"), [("warmup", "True"), ("train", "True"), ("all", "")])
def test_a_branch_that_says_which_phase_it_is(phase: str, left: str) -> None:
    code = BRANCHES.replace("{phase}", phase)
    result = lint(SourceFile.from_text(code, "train.py"), SETTINGS, CATALOGUE)
    assert result.text.partition("drop_last=")[2].partition(")")[0] == left
