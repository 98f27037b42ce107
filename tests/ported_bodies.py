"""Bodies of functions, ported by all rules."""

from __future__ import annotations

from textwrap import dedent, indent

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
SETTINGS = Settings(fix=True, unsafe_fixes=True)
DEVICE = "torch_xla.device()"


def port(body: str) -> str:
    """The body of a function after all fixes; a second run changes nothing."""
    start = "import torch\n\n\ndef main(args, x):\n"
    result = lint(SourceFile.from_text(start + indent(body, "    "), "train.py"), SETTINGS, CATALOGUE)
    assert not result.error
    assert lint(SourceFile.from_text(result.text, "train.py"), SETTINGS, CATALOGUE).text == result.text
    return dedent(result.text.partition("x):\n")[2]).replace(DEVICE, "d")
