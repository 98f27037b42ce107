"""The help of a command line option whose default was a GPU: ``help="cuda or cpu"``."""

from __future__ import annotations

import ast
import re

from tpulint.context import FileContext
from tpulint.model import Span

_GPU = r"\bcuda(?::\d+)?(?![\w:.-])"
_OTHER_WORDS = r"(?i)GPU|NVIDIA|CUDA|\d,\s*\d"


def name_in_help(ctx: FileContext, name: ast.expr) -> Span | None:
    """Where the help of an option lists the device by its name, beside the CPU; None where it says anything else."""
    call = next((node for node in ctx.index.tree.ancestors(name) if isinstance(node, ast.Call)), None)
    given = None if call is None else next((item.value for item in call.keywords if item.arg == "help"), None)
    if not isinstance(given, ast.Constant) or not isinstance(given.value, str):
        return None
    span = ctx.index.span(given)
    text = ctx.source.text[span.start : span.end]
    found = list(re.finditer(_GPU, text))
    if len(found) != 1 or not re.search(r"\bcpu\b", text) or re.search(_OTHER_WORDS, re.sub(_GPU, "", text)):
        return None
    return Span(span.start + found[0].start(), span.start + found[0].end())
