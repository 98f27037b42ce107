"""Places of tensors that are chosen by a tensor: one graph for all of them."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import Kind

_GIVEN_ON = "The other variable is given the value in the dtype of the tensor."


def choose_by_tensor(ctx: FileContext, fix: FixBuilder, node: ast.Subscript, item: ast.expr, at: int = 0) -> None:
    """Write ``x[[i]] = y`` for ``x[i] = y``, and ``x[[i]][0]`` where the part is taken; ``at`` is the dimension."""
    fix.replace(item, f"[{ctx.text(item)}]")
    statement = ctx.index.statement_of(node)
    if not is_stored(ctx, node):
        colons = ":, " * at
        fix.insert(ctx.index.span(node).end, f"[{colons}0]")
    elif isinstance(statement, ast.Assign):
        _cast(ctx, fix, node, statement)
    elif not isinstance(statement, ast.AugAssign):
        fix.give_up()


def _cast(ctx: FileContext, fix: FixBuilder, node: ast.Subscript, statement: ast.Assign) -> None:
    """Give the value the dtype of the tensor: ``x[i] = y`` does so by itself, ``x[[i]] = y`` raises for another."""
    value, kind, base = statement.value, ctx.index.kind(statement.value), ctx.text(node.value)
    if node not in statement.targets:
        fix.give_up()  # one of several values
    elif kind is Kind.TENSOR:
        fix.append(value, f".to({base}.dtype)")
        if len(statement.targets) > 1:
            fix.lower(Applicability.UNSAFE, _GIVEN_ON)
    elif kind is not Kind.HOST and len(statement.targets) > 1:
        fix.give_up()
    elif kind is not Kind.HOST:  # a tensor or a number
        made = f"{fix.use('torch', at=node)}.as_tensor"
        fix.replace(value, f"{made}({ctx.text(value)}, dtype={base}.dtype, device={base}.device)")


def is_stored(ctx: FileContext, node: ast.Subscript) -> bool:
    """Whether the part is written, not taken."""
    return not isinstance(node.ctx, ast.Load) or isinstance(ctx.index.parent(node), ast.AugAssign)


def is_plain(node: ast.expr) -> bool:
    """Whether an expression may be written twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
