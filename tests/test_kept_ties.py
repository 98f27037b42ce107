"""Layers that share a parameter where the flag of torch, which would keep it shared, does harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
FLAG = "set_swap_module_params_on_conversion"
IMPORTED = "from torch import nn\nimport tpulint_runtime\n"
MODEL = """\
from torch import nn


class Words(nn.Module):
    def __init__(self, tied):
        super().__init__()
        self.encoder = nn.Embedding(7, 4)
        self.rnn = nn.LSTM(4, 4)
        self.decoder = nn.Linear(4, 7)
        if tied:
            self.decoder.weight = self.encoder.weight
"""
TRAIN = """\
import torch
from model import Words

model = Words(True).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
LOADS = 'model.load_state_dict(torch.load("best.pt", map_location="cpu"))\n'
PAIR = """\
import torch
from torch import nn

class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 4)
        self.rnn = nn.GRU(4, 4)

class Pair:
    def __init__(self, path, use_cuda):
        encoder, decoder = Coder(), Coder()
        decoder.words.weight = encoder.words.weight
        if use_cuda:
            encoder = encoder.cuda()
            decoder = decoder.cuda()
        self.encoder, self.decoder = encoder, decoder
        self.encoder.load_state_dict(torch.load(path, map_location="cpu"))
"""


def fixed(folder: Path, **files: str) -> dict[str, str]:
    """The files of a project as the fixes of the rule leave them, with nothing left to tell."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    answer = tpulint("--fix", "--unsafe-fixes", "--select", "TPU304", ".", cwd=folder)
    assert answer.status == 0, answer.out
    return {name: (folder / f"{name}.py").read_text() for name in files}


def test_class_keeps_ties_where_another_file_loads_weights(tmp_path: Path) -> None:
    found = fixed(tmp_path, model=MODEL, train=TRAIN + LOADS)
    assert found["train"] == TRAIN + LOADS
    assert found["model"] == MODEL.replace(
        "from torch import nn\n", "from torch import nn\nimport tpulint_runtime\n"
    ).replace("class Words", "@tpulint_runtime.keep_ties\nclass Words")


def test_flag_is_set_where_nothing_is_loaded(tmp_path: Path) -> None:
    assert FLAG in fixed(tmp_path, model=MODEL, train=TRAIN)["model"]


def test_flag_is_set_where_what_is_loaded_can_stand_it(tmp_path: Path) -> None:
    assert FLAG in fixed(tmp_path, model=MODEL.replace("nn.LSTM", "nn.Linear"), train=TRAIN + LOADS)["model"]


@pytest.mark.parametrize("other", ["@torch.no_grad()\n", ""])
def test_class_that_keeps_ties_is_left_alone(other: str) -> None:
    text = MODEL.replace("from torch import nn\n", "import torch\nimport tpulint_runtime\nfrom torch import nn\n")
    text = text.replace("class Words", f"{other}@tpulint_runtime.keep_ties\nclass Words")
    text += '\nmodel = Words(True)\nmodel.load_state_dict(torch.load("best.pt"))\nmodel.to("cuda")\n'
    assert lint(SourceFile.from_text(text), Settings(select=("TPU304",)), CATALOGUE).findings == ()


def test_flag_is_set_around_the_moves_of_two_modules(tmp_path: Path) -> None:
    first, last = "            encoder = encoder.cuda()\n", "            decoder = decoder.cuda()\n"
    flag = "            torch.__future__.set_swap_module_params_on_conversion({})\n"
    expected = PAIR.replace(first, flag.format(True) + first).replace(last, last + flag.format(False))
    assert fixed(tmp_path, pair=PAIR) == {"pair": expected}


def test_modules_that_move_apart_are_told_of() -> None:
    text = PAIR.replace(
        "            decoder = decoder.cuda()", "            print(path)\n            decoder = decoder.cuda()"
    )
    findings = lint(SourceFile.from_text(text), Settings(select=("TPU304",)), CATALOGUE).findings
    assert [finding.fix for finding in findings] == [None]
