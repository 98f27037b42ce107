"""What functions see of variables at the top of the file that are bound anew: the data that moves to the device."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

CATALOGUE = load()


def seen(text: str) -> list[str]:
    """Values that the variable may hold which the file calls ``x`` and a function reads in ``use(x)``."""
    source = SourceFile.from_text(dedent(text))
    index = SemanticIndex(source, ast.parse(source.text))
    calls = [call for call in index.calls if isinstance(call.func, ast.Name) and call.func.id == "use"]
    (name,) = calls[0].args
    assert isinstance(name, ast.Name)
    return [index.text(binding.value) for binding in index.flow.reaching(name) if binding.value is not None]


def test_only_what_the_function_may_find() -> None:
    assert seen("x = 1\nx = 2\ndef f():\n    use(x)\nf()\n") == ["2"]
    assert seen("x = 1\ndef f():\n    use(x)\nx = 2\nf()\n") == ["2"]
    assert seen("x = 1\nx = 2\nclass A:\n    def f(self):\n        use(x)\nA().f()\n") == ["2"]
    assert seen("x = 1\ndef f():\n    use(x)\ndef main():\n    f()\nx = 2\nmain()\n") == ["2"]
    assert seen("def f():\n    use(x)\nif __name__ == '__main__':\n    x = 1\n    x = 2\n    f()\n") == ["2"]
    assert seen("x = 1\ndef f():\n    use(x)\nx = 2\nimport os\n") == ["2"]  # who imports it has run all of the file


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\ndef f():\n    use(x)\nf()\nx = 2\n",
        "x = 1\ndef f():\n    use(x)\ndef main():\n    f()\nmain()\nx = 2\n",
        "x = 1\ndef f():\n    use(x)\nhook(f)\nx = 2\n",
        "x = 1\nif a:\n    x = 2\ndef f():\n    use(x)\nf()\n",
        "x = 1\ndef f():\n    use(x)\nfor i in a:\n    f()\n    x = 2\n",
        "x = 1\n@hook\ndef f():\n    use(x)\nx = 2\nf()\n",
        "x = 1\ndef f():\n    use(x)\nx = 2\nglobals()[name]()\n",
        "x = 1\ng = lambda: use(x)\nx = 2\n",
        "x = 1\ndef f():\n    use(x)\nclass A:\n    y = f()\nx = 2\nf()\n",
        "x = 1\ndef f():\n    use(x)\ndef g():\n    global x\n    x = 2\nf()\n",
        "x = 1\ndef g():\n    global x\n    x = 2\ng()\ndef f():\n    use(x)\nf()\n",
        "def f():\n    use(x)\nif a:\n    x = 1\n    f()\nelse:\n    x = 2\n    f()\n",
        "x = 1\ndef f():\n    use(x)\nif f():\n    x = 2\nf()\n",
        "def h():\n    x = 1\n    def f():\n        use(x)\n    x = 2\n    f()\n",
    ],
)
def test_both_where_either_may_be_found(text: str) -> None:
    assert sorted(seen(text)) == ["1", "2"]


LOOP = """
import torch
import torch.nn as nn


def make():
    return torch.randn(640, 8), torch.randn(640)


{first}
model = nn.Linear(8, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{moves}

def train():
    for at in range(0, 640, 10):
        x = train_x[at : at + 10]
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train()
"""


@pytest.mark.parametrize(
    ("first", "moves", "is_told"),
    [
        ("train_x = torch.randn(640, 8)", "train_x = train_x.cuda()", True),
        ("train_x, train_y = torch.randn(640, 8), 3", "train_x = train_x.cuda()", True),
        ("train_x, train_y = torch.randn(640, 8).cuda(), 3", "", True),
        ("train_x, train_y = make()", "train_x = train_x.cuda()", True),
        ("train_x, train_y = [torch.randn(8).cuda()] * 9, 3", "", False),
        ("train_x = torch.randn(640, 8).cuda()", "train_x = train_x.cpu()", False),
        ("train_x = torch.randn(640, 8)", "", False),
    ],
)
def test_data_that_is_moved_at_the_top(first: str, moves: str, is_told: bool) -> None:
    text = LOOP.format(first=first, moves=moves)
    findings = lint(SourceFile.from_text(text), Settings(select=("TPU201",)), CATALOGUE).findings
    assert [finding.code for finding in findings] == ["TPU201"] * is_told


def test_data_stays_known_when_its_guard_is_gone() -> None:
    moves = "if torch.cuda.is_available():\n" + indent("model.cuda()\ntrain_x = train_x.cuda()", "    ")
    settings = Settings(select=("TPU001", "TPU002", "TPU201"), fix=True, unsafe_fixes=True)
    text = LOOP.format(first="train_x, train_y = make()", moves=moves)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert "\ntrain_x = train_x.to(device)\n" in result.text
    assert "x = train_x[torch.arange(at, " in result.text
