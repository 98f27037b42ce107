"""Parentheses that held a choice over several lines, of which fixes left one line: ``device = (\\n    "xla"\\n)``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tpulint.model import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_OPENS = r"(?:=|return)[ \t]*(\([ \t]*\n\s*)\Z"
_CLOSES = r"\s*\)"
_LONGEST = 100


def spare_parentheses(before: SemanticIndex, after: SemanticIndex) -> list[tuple[Span, ast.expr]]:
    """The parentheses with what is in them, and that by itself, which its author had not written so."""
    found = list(_on_one_line(after))
    known = Counter(_key(before, value) for _, value in _on_one_line(before)) if found else Counter[str]()
    spare = []
    for whole, value in found:
        key = _key(after, value)
        if known[key]:
            known[key] -= 1
        else:
            spare.append((whole, value))
    return spare


def _key(index: SemanticIndex, value: ast.expr) -> str:
    """What stands in front of a value, by which it is known again, and its words, but for the name of the device."""
    statement = index.statement_of(value)
    head = index.source.text[index.span(statement).start : index.span(value).start]
    return f"{head} {ast.dump(value).replace('cuda', 'xla')}"


def _on_one_line(index: SemanticIndex) -> Iterator[tuple[Span, ast.expr]]:
    """Values on a line of their own between parentheses, with these."""
    text = index.source.text
    for statement in index.tree.parents:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return) else None
        if not isinstance(value, ast.Constant | ast.Call | ast.Name | ast.Attribute):
            continue
        outer, inner = index.span(statement), index.span(value)
        opened = re.search(_OPENS, text[outer.start : inner.start])
        closed = re.fullmatch(_CLOSES, text[inner.end : outer.end])
        if opened is None or closed is None or "\n" in text[inner.start : inner.end]:
            continue
        if inner.end - inner.start <= _LONGEST:
            yield Span(outer.start + opened.start(1), outer.end), value
