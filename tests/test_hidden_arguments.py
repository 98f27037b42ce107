"""Arguments that a fix sets beside ``**options``: no argument is given twice."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from samples import train_set, test_set, others
net = nn.Linear(4, 4).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
STEP = """\
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def fixed(code: str, rule: str) -> str:
    settings = Settings(fix=True, unsafe_fixes=True, select=(rule,))
    return lint(SourceFile.from_text(code, "train.py"), settings, CATALOGUE).text


@pytest.mark.parametrize(
    ("options", "becomes"),
    [
        (
            '{"shuffle": True, "batch_size": 8, "drop_last": False}',
            '{"shuffle": True, "batch_size": 8, "drop_last": True}',
        ),
        ("dict(batch_size=8, shuffle=True, drop_last=False)", "dict(batch_size=8, shuffle=True, drop_last=True)"),
    ],
)
def test_the_dictionary_of_one_loader_is_changed(options: str, becomes: str) -> None:
    code = HEAD + "options = {}\nloader = DataLoader(train_set, **options)\n" + STEP
    assert fixed(code.replace("{}", options, 1), "TPU501") == code.replace("{}", becomes, 1)


@pytest.mark.parametrize(
    "rows",
    [
        "options = dict(batch_size=8, shuffle=True, drop_last=False)\ntests = DataLoader(test_set, **options)\n",
        "options = dict(batch_size=8, shuffle=True)\noptions['drop_last'] = False\n",
        "base = dict(drop_last=False)\noptions = dict(batch_size=8, shuffle=True, **base)\n",
    ],
)
def test_a_dictionary_of_others_stays(rows: str) -> None:
    code = HEAD + rows + "loader = DataLoader(train_set, **options)\n" + STEP
    assert fixed(code, "TPU501") == code


def test_a_dictionary_without_the_argument_leaves_it_to_the_call() -> None:
    code = HEAD + "options = dict(batch_size=8, shuffle=True)\nloader = DataLoader(train_set, **options)\n" + STEP
    assert fixed(code, "TPU501") == code.replace("**options)", "**options, drop_last=True)")
