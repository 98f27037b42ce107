"""The arguments of a call as they stand in the text: with their own parentheses, and the commas between them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpulint.model import Span
from tpulint.records import NamedTuple

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_BLANK = re.compile(r"(?:[\s\\]|#[^\r\n]*)*")


class Piece(NamedTuple):
    """One argument between the parentheses of its call."""

    span: Span
    """The argument with its own parentheses, without the blanks around it."""
    comma: int | None
    """Offset of the comma behind it."""


def in_order(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """The arguments of a call in order of position."""
    items: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(items, key=lambda item: (item.lineno, item.col_offset))


def pieces(index: SemanticIndex, call: ast.Call) -> list[Piece]:
    """One piece for each argument, in order of position.

    Positions come from the tree; between two arguments stand only blanks, comments, parentheses and one comma.
    """
    text, tree = index.source.text, index.tree
    close = tree.end(call) - 1
    at = _skip(text, tree.end(call.func))
    while text[at] == ")":  # the callee stands in parentheses of its own
        at = _skip(text, at + 1)
    at = _skip(text, at + 1)
    result = []
    for item in in_order(call):
        start, end = at, min(tree.end(item), close)  # a lone generator shares the parentheses of its call
        after = _skip(text, end)
        while text[after] == ")" and after < close:
            end = after + 1
            after = _skip(text, end)
        comma = after if text[after] == "," else None
        result.append(Piece(Span(start, end), comma))
        at = _skip(text, after + 1) if comma is not None else after
    return result


def _skip(text: str, offset: int) -> int:
    """The next offset with neither blanks nor comments."""
    match = _BLANK.match(text, offset)
    assert match is not None
    return match.end()
