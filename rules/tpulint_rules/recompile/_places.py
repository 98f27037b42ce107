"""Places of tensors that are chosen by a tensor: one graph for all of them."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder


def choose_by_tensor(ctx: FileContext, fix: FixBuilder, node: ast.Subscript, item: ast.expr, at: int = 0) -> None:
    """Write ``x[[i]] = y`` for ``x[i] = y``, and ``x[[i]][0]`` where the part is taken; ``at`` is the dimension."""
    fix.replace(item, f"[{ctx.text(item)}]")
    if not is_stored(ctx, node):
        colons = ":, " * at
        fix.insert(ctx.index.span(node).end, f"[{colons}0]")


def is_stored(ctx: FileContext, node: ast.Subscript) -> bool:
    """Whether the part is written, not taken."""
    return not isinstance(node.ctx, ast.Load) or isinstance(ctx.index.parent(node), ast.AugAssign)


def is_plain(node: ast.expr) -> bool:
    """Whether an expression may be written twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
