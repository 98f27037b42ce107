"""Blocks that lose all of their statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def with_emptied_blocks(index: SemanticIndex, gone: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The statements to delete, an ``if`` in place of its contents where nothing else is in it."""
    result = list(dict.fromkeys(gone))
    for statement in result:
        holder = index.parent(statement)
        if not isinstance(holder, ast.If) or holder in result or is_elif(index, holder) or acts(index, holder.test):
            continue
        contents = [*holder.body, *holder.orelse]
        if all(item in result for item in contents):
            return with_emptied_blocks(index, [*(item for item in result if item not in contents), holder])
    return result


def is_elif(index: SemanticIndex, node: ast.If) -> bool:
    """Whether an ``if`` is the ``elif`` of another (or stands alone in its ``else``)."""
    outer = index.parent(node)
    return isinstance(outer, ast.If) and outer.orelse == [node]


def acts(index: SemanticIndex, test: ast.expr) -> bool:
    """Whether a condition does more than look at values."""
    return any(isinstance(node, ast.Call | ast.NamedExpr | ast.Await) for node in (test, *index.tree.inside(test)))
