"""The help of a command line option whose default was a GPU: ``help="cuda or cpu"``."""

from __future__ import annotations

import ast
import re

from tpulint.context import FileContext
from tpulint.model import Span

_GPU = r"\bcuda(?::\d+)?(?![\w:.-])"
_OTHER_WORDS = r"(?i)GPU|NVIDIA|CUDA|\d,\s*\d"
_DEFAULT = r"(?i:\bdefaults?\b)(?:[\s:=]|\b(?:is|to)\b|['\"`])*(cpu)\b"


def name_in_help(ctx: FileContext, name: ast.expr) -> Span | None:
    """Where the help of an option lists the device by its name, beside the CPU; None where it says anything else."""
    span = _help(ctx, name)
    if span is None:
        return None
    text = ctx.source.text[span.start : span.end]
    found = list(re.finditer(_GPU, text))
    if len(found) != 1 or not re.search(r"\bcpu\b", text) or re.search(_OTHER_WORDS, re.sub(_GPU, "", text)):
        return None
    return Span(span.start + found[0].start(), span.start + found[0].end())


def default_in_help(ctx: FileContext, default: ast.expr) -> Span | None:
    """Where the help of an option says that its default is the CPU: ``help="cpu or cuda, default: cpu"``."""
    span = _help(ctx, default)
    found = None if span is None else re.search(_DEFAULT, ctx.source.text[span.start : span.end])
    return None if span is None or found is None else Span(span.start + found.start(1), span.start + found.end(1))


def _help(ctx: FileContext, argument: ast.expr) -> Span | None:
    """The text that describes the option to which an argument belongs."""
    call = next((node for node in ctx.index.tree.ancestors(argument) if isinstance(node, ast.Call)), None)
    given = None if call is None else next((item.value for item in call.keywords if item.arg == "help"), None)
    return ctx.index.span(given) if isinstance(given, ast.Constant) and isinstance(given.value, str) else None
