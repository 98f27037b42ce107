"""Imports beside one of torch that may fail: a program that runs without torch runs without torch_xla, too."""

from __future__ import annotations

import ast

from tpulint.model import Edit, Span
from tpulint.semantic.syntax.module_body import imports_torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def beside_torch(index: SemanticIndex, attempt: ast.Try, lines: list[str], first_use: int) -> Edit | None:
    """Imports behind a ``try`` that has found torch, in its ``else``; None where they are needed above it.

    Where the ``try`` itself needs them, right behind the import of torch.
    """
    source, newline = index.source, index.source.newline
    if first_use < index.tree.end(attempt):
        torch = next(item for item in attempt.body if imports_torch(item))
        end = index.tree.end(torch)
        if first_use < end:
            return None
        row_end = source.line_end(end)
        if source.text[end:row_end].lstrip().startswith(";") or _indent(index, torch) is None:
            return Edit(Span(end, end), "".join(f"; {line}" for line in lines))
        return Edit(Span(row_end, row_end), "".join(f"{newline}{_indent(index, torch)}{line}" for line in lines))
    if attempt.orelse:
        start = index.tree.start(attempt.orelse[0])
        indent = _indent(index, attempt.orelse[0])
        separator = "; " if indent is None else newline + indent
        return Edit(Span(start, start), "".join(line + separator for line in lines))
    end = source.line_end(index.tree.end(attempt.handlers[-1]))
    indent = _indent(index, attempt.body[0]) or "    "
    return Edit(Span(end, end), f"{newline}else:" + "".join(f"{newline}{indent}{line}" for line in lines))


def _indent(index: SemanticIndex, statement: ast.stmt) -> str | None:
    """The blanks in front of a statement that begins its row; None where other code does."""
    start = index.tree.start(statement)
    before = index.source.text[index.source.line_start(start) : start]
    return None if before.strip() else before
