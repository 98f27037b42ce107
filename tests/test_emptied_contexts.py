"""Blocks that stood in contexts of a GPU: they stand without one, and nothing else of them changes."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
HEAD = "import torch\n\n\n"


def port(text: str) -> str:
    result = lint(SourceFile.from_text(HEAD + text, "train.py"), Settings(fix=True, unsafe_fixes=True), CATALOGUE)
    assert not result.error
    return result.text.removeprefix(HEAD.strip()).lstrip("\n")


UNWRAPPED = {
    "a block": ("with torch.cuda.device(1):\n    f()\n    g()\nh()\n", "f()\ng()\nh()\n"),
    "comments in it": (
        "with torch.cuda.device(1):\n    # above\n    f()\n    # below\n# outside\nh()\n",
        "# above\nf()\n# below\n# outside\nh()\n",
    ),
    "texts over rows": (
        'def f():\n    with torch.cuda.device(1):\n        x = """a\n        b"""\n    return x\n',
        'def f():\n    x = """a\n        b"""\n    return x\n',
    ),
    "one in the other": (
        "if a:\n    with torch.cuda.device(1):\n        with torch.cuda.stream(stream):\n            f()\n",
        "if a:\n    f()\n",
    ),
    "nothing is left in it": (
        "def f(x):\n    with torch.cuda.device(1):\n        torch.cuda.empty_cache()\n    return x\n",
        "def f(x):\n    return x\n",
    ),
    "tabs": ("if a:\n\twith torch.cuda.device(1):\n\t\tf()\n", "if a:\n\tf()\n"),
}


@pytest.mark.parametrize(("before", "after"), UNWRAPPED.values(), ids=UNWRAPPED)
def test_block_stands_without_a_context_that_does_nothing(before: str, after: str) -> None:
    assert port(before) == after


@pytest.mark.parametrize(
    "before",
    [
        "with torch.cuda.device(1):  # the second\n    f()\n",
        "with torch.cuda.device(1): f()\n",
        "with open('x') as file, torch.cuda.device(1):\n    f(file)\n",
        "with (\n    torch.cuda.device(1)\n):\n    f()\n",
    ],
)
def test_others_stay(before: str) -> None:
    assert "nullcontext()" in port(before)


def test_contexts_of_the_author_stay() -> None:
    before = "import contextlib\nwith contextlib.nullcontext():\n    f()\nwith torch.cuda.device(1):\n    g()\n"
    assert port(before).count("with contextlib.nullcontext():") == 2
