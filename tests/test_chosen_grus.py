"""GRUs that torch_xla replaces, whose class is chosen, handed over or asked for by its name."""

from __future__ import annotations

from textwrap import indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
HEAD = """\
import functools
import torch
from torch import nn

KINDS = {{"gru": {gru}, "lstm": nn.LSTM}}


class Stack(nn.Module):
    def __init__(self, kind, n, both=False, cell=None, **options):
        super().__init__()
"""


def rows_told(text: str) -> list[str]:
    result = lint(SourceFile.from_text(text), Settings(select=("TPU324",)), CATALOGUE)
    assert result.error == ""
    return [text[finding.span.start : finding.span.end] for finding in result.findings]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("cell = nn.LSTM\nif kind:\n    cell = nn.GRU\nself.rnn = cell(n, n)", ["cell(n, n)"]),
        ("cell = nn.GRU if kind else nn.LSTM\nself.rnn = cell(n, n)", ["cell(n, n)"]),
        ("self.cell = nn.GRU if kind else nn.RNN\nself.rnn = self.cell(n, n)", ["self.cell(n, n)"]),
        ("self.rnn = {'GRU': nn.GRU, 'LSTM': nn.LSTM}[kind](n, n)", ["{'GRU': nn.GRU, 'LSTM': nn.LSTM}[kind](n, n)"]),
        ("cell = functools.partial(nn.GRU, dropout=0.1)\nself.rnn = cell(n, n)", ["cell(n, n)"]),
        ("self.rnn = getattr(nn, 'GRU')(n, n)", ["getattr(nn, 'GRU')(n, n)"]),
        ("if kind in ('GRU', 'LSTM'):\n    self.rnn = getattr(nn, kind)(n, n)", ["getattr(nn, kind)(n, n)"]),
        ("self.rnn = getattr(nn, kind.upper())(n, n, num_layers=2)", ["getattr(nn, kind.upper())(n, n, num_layers=2)"]),
        ("cell = nn.GRU if kind else nn.LSTM\nself.rnn = cell(n, n, bidirectional=True)", []),
        ("cell = nn.GRU if kind else nn.LSTM\nself.rnn = cell(n, n, bidirectional=both)", []),
        ("cell = nn.GRU if kind else nn.LSTM\nself.rnn = cell(n, n, **options)", []),
        ("cell = functools.partial(nn.GRU, bidirectional=True)\nself.rnn = cell(n, n)", []),
        ("cell = nn.RNN if kind else nn.LSTM\nself.rnn = cell(n, n)\nprint(isinstance(kind, nn.GRU))", []),
        ("self.rnn = getattr(nn, 'LSTM')(n, n)\nprint('GRU')", []),
        ("self.act = getattr(nn, kind)(n, n)", []),
        ("self.norm = getattr(kind, 'GRU')(n, n)", []),
        ("if type(kind) in (nn.GRU, nn.LSTM):\n    self.head = cell(n, n)", []),
    ],
)
def test_class_that_the_module_chooses(body: str, told: list[str]) -> None:
    assert rows_told(HEAD.format(gru="None") + indent(body, " " * 8) + "\n") == told


@pytest.mark.parametrize("made", ["KINDS[kind](n, n)", "KINDS.get(kind)(n, n)", "KINDS['gru'](n, n)"])
def test_class_out_of_a_dictionary_of_the_file(made: str) -> None:
    assert rows_told(HEAD.format(gru="nn.GRU") + f"        self.rnn = {made}\n") == [made]


def test_another_key_of_the_dictionary() -> None:
    text = HEAD.format(gru="nn.GRU") + "        self.rnn = KINDS['lstm'](n, n)\n"
    assert rows_told(text) == ["nn.GRU"]  # which others may ask for
    assert rows_told(text.replace("'lstm'](n, n)", "kind](n, n, bidirectional=True)")) == []


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("Stack('', 8, cell=nn.GRU)", ["cell(n, n)"]),
        ("Stack('', 8, False, nn.GRU)", ["cell(n, n)"]),
        ("Stack('', 8, cell=nn.LSTM)", []),
    ],
)
def test_class_that_a_call_hands_over(call: str, told: list[str]) -> None:
    made = HEAD.format(gru="None") + "        self.rnn = cell(n, n)\n"
    assert rows_told(f"{made}\n\ndef build():\n    return {call}\n") == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def build(make):\n    return make(8, cell=nn.GRU)", ["nn.GRU"]),
        ("def build(make, cell=nn.GRU):\n    return make(8, cell)", ["nn.GRU"]),
        ("KINDS = {'gru': nn.GRU, 'lstm': nn.LSTM}", ["nn.GRU"]),
        ("def build(make, both):\n    return make(8, cell=nn.GRU, bidirectional=both)", []),
        ("COUNTED = {nn.GRU: 3, nn.LSTM: 4}", []),
        ("RECURRENT = (nn.GRU, nn.LSTM)", []),
        ("def starts(module):\n    return isinstance(module, nn.GRU)", []),
    ],
)
def test_class_that_others_make_the_layer_of(text: str, told: list[str]) -> None:
    assert rows_told(f"import torch\nfrom torch import nn\n\n{text}\n") == told
