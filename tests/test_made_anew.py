"""Tensors that each step resized in place and now makes anew, where nothing else holds them."""

from __future__ import annotations

from textwrap import indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
PROGRAM = """\
import torch
import torch_xla
from torch.autograd import Variable

device = torch_xla.device()
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(dataset, batch_size=8, drop_last=True)
x = torch.FloatTensor(8, 4)
label = torch.FloatTensor(8)
x, label = x.to(device), label.to(device)
{before}
for epoch in range(3):
    for i, (batch, _) in enumerate(loader):
{body}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
LOSS = "\nloss = (model(x) - label).pow(2).mean()"


def told(body: str, before: str = "", unsafe: bool = True) -> tuple[int, int]:
    """How many calls are told of in front of the fixes, and how many stay."""
    settings = Settings(select=("TPU219",))
    text = PROGRAM.format(before=before, body=indent(body, "        "))
    texts = (text, fixed(body, before, unsafe))
    first, last = (len(lint(SourceFile.from_text(one), settings, CATALOGUE).findings) for one in texts)
    return first, last


def fixed(body: str, before: str = "", unsafe: bool = False) -> str:
    text = PROGRAM.format(before=before, body=indent(body, "        "))
    settings = Settings(select=("TPU219",), fix=True, unsafe_fixes=unsafe)
    return lint(SourceFile.from_text(text), settings, CATALOGUE).text


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("x.resize_(batch.size()).copy_(batch)", "x = x.new_empty(batch.size()).copy_(batch)\n"),
        ("label.resize_(batch.size(0)).fill_(1)", "label = label.new_empty(batch.size(0)).fill_(1)\n"),
        ("x.resize_(x.size(0), 4).normal_(0, 1).mul_(2)", "x = x.new_empty(x.size(0), 4).normal_(0, 1).mul_(2)\n"),
        ("x.resize_(8, 4)\nx.copy_(batch)", "x = x.new_empty(8, 4)\n        x.copy_(batch)\n"),
        ("v = Variable(x.resize_(8, 4).uniform_())", "x = x.new_empty(8, 4).uniform_()\n        v = Variable(x)\n"),
        ("x.resize_(8, 4).zero_()  # no noise", "x = x.new_empty(8, 4).zero_()  # no noise\n"),
        # What holds it holds it of this turn, in some turns only, or is computed of it.
        ("x.resize_(8, 4).zero_()\nv = Variable(x)\nz = model(v)", "x = x.new_empty(8, 4).zero_()\n"),
        ("x.resize_(8, 4).zero_()\nif i % 2:\n    v, w = Variable(x), label\n    z = model(v)",
         "x = x.new_empty(8, 4).zero_()\n"),
        ("x.resize_(8, 4).normal_()\nz = model(x)\nx.resize_(8, 4).zero_()\nprint(z.shape)",
         "z = model(x)\n        x = x.new_empty(8, 4).zero_()\n"),
    ],
)  # fmt: skip
def test_a_tensor_is_made_anew(body: str, made: str) -> None:
    text = fixed(body + LOSS)
    assert f"        {made}" in text
    assert "resize_" not in text


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("held = x.detach()", "x.resize_(8, 4).normal_()"),
        ("held = Variable(x)", "x.resize_(8, 4).normal_()\nz = model(held)"),
        ("parts = [x]", "x.resize_(8, 4).normal_()"),
        ("keep(x)", "x.resize_(8, 4).normal_()"),
        ("show = lambda: x.sum()", "x.resize_(8, 4).normal_()"),
        ("", "x.resize_(8, 4)\nz = model(x)"),  # what it held matters
        ("", "x.resize_(8, 4).mul_(2)"),
        ("", "x.resize_(8, 4)\nx.mul_(2)"),
        ("", "x.resize_(8, 4, memory_format=torch.contiguous_format).zero_()"),
        ("", "v = Variable(x)\nx.resize_(8, 4).normal_()\nz = model(v)"),
        ("", "x.resize_(8, 4).normal_()\nif i:\n    z = model(v)\nv = x"),  # of the turn before
        ("kept = []", "x.resize_(8, 4).normal_()\nkept.append(x)"),
        ("", "z = model(x) + x.resize_(8, 4).normal_().sum()"),
        # One that cannot be mended leaves the others: they would make the tensor that it resizes.
        ("", "x.resize_(8, 4).normal_()\nz = model(x)\nx.resize_(8, 4)\nz = model(x)"),
    ],
)
def test_a_tensor_that_others_hold_or_whose_values_stay(before: str, body: str) -> None:
    found, left = told(body + LOSS, before)
    assert found == left == body.count("resize_")


def test_a_variable_of_the_file_is_not_bound_in_a_function() -> None:
    text = PROGRAM.format(before="", body="        x.resize_(8, 4).normal_()\n        " + LOSS.strip())
    head, loop = text.split("\nfor epoch", 1)
    text = f"{head}\ndef main():\n{indent('for epoch' + loop, '    ')}\n\nmain()\n"
    settings = Settings(select=("TPU219",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert (result.text, len(result.findings)) == (text, 1)


@pytest.mark.parametrize(("outside", "is_mended"), [("pass", True), ("return self.images", False)])
def test_what_an_object_keeps_may_be_held_by_others(outside: str, is_mended: bool) -> None:
    text = f"""\
import torch
import torch_xla

device = torch_xla.device()

class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(4, 1).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.images = torch.empty(8, 4).to(device)

    def look(self):
        {outside}

    def run(self, loader):
        for x, y in loader:
            self.images.resize_(x.size()).copy_(x)
            self.optimizer.zero_grad()
            self.model(self.images).mean().backward()
            self.optimizer.step()
            torch_xla.sync()
"""
    for unsafe in (False, True):
        settings = Settings(select=("TPU219",), fix=True, unsafe_fixes=unsafe)
        result = lint(SourceFile.from_text(text), settings, CATALOGUE)
        assert ("self.images = self.images.new_empty(x.size()).copy_(x)" in result.text) is (is_mended and unsafe)


@pytest.mark.parametrize(
    ("made", "is_told"), [("torch.empty(8, 4, device=device)", True), ("torch.empty(8, 4)", False)]
)
def test_what_derived_classes_make_is_made_anew_in_the_method_of_their_base(made: str, is_told: bool) -> None:
    text = f"""\
import torch
import torch_xla

device = torch_xla.device()

class Trainer:
    def set_input(self, batch):
        self.images.resize_(batch.size()).copy_(batch)

    def run(self, loader):
        for x, y in loader:
            self.set_input(x)
            self.learn()

class Own(Trainer):
    def __init__(self):
        self.model = torch.nn.Linear(4, 1).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.images = {made}

    def learn(self):
        self.optimizer.zero_grad()
        self.model(self.images).mean().backward()
        self.optimizer.step()
        torch_xla.sync()
"""
    found = lint(SourceFile.from_text(text), Settings(select=("TPU219",)), CATALOGUE).findings
    settings = Settings(select=("TPU219",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert (len(found), len(result.findings)) == (is_told, 0)
    assert ("self.images = self.images.new_empty(batch.size()).copy_(batch)" in result.text) is is_told
