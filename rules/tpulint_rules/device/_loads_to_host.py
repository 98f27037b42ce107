"""Branches for a GPU that load a checkpoint as it is, beside branches for the host that say where to."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tpulint.context import FileContext


def loads_to_host(ctx: FileContext, known: Mapping[ast.expr, bool]) -> dict[ast.expr, bool]:
    """The answers turned round where what a GPU machine saved would be loaded without ``map_location`` otherwise."""
    loads = set(ctx.index.calls_to("torch.load"))
    asked = known.items() if loads else ()
    return {node: not answer for node, answer in asked if _is_better_on_host(ctx, node, answer, loads)}


def _is_better_on_host(ctx: FileContext, node: ast.expr, answer: bool, loads: set[ast.Call]) -> bool:
    root: ast.AST = node
    while isinstance(parent := ctx.index.parent(root), ast.UnaryOp) and isinstance(parent.op, ast.Not):
        root, answer = parent, not answer
    if not isinstance(parent, ast.If) or parent.test is not root or len(parent.body) != len(parent.orelse):
        return False
    taken, other = (parent.body, parent.orelse) if answer else (parent.orelse, parent.body)
    pairs = [(one, two) for one, two in zip(taken, other, strict=True) if ctx.text(one) != ctx.text(two)]
    return bool(pairs) and all(
        _says_where(ctx, one, loads) is False and _says_where(ctx, two, loads) is True for one, two in pairs
    )


def _says_where(ctx: FileContext, statement: ast.stmt, loads: set[ast.Call]) -> bool | None:
    """Whether a statement loads with a ``map_location``; None where it does not load."""
    calls = [call for call in loads if ctx.index.tree.encloses(statement, call)]
    said = [len(call.args) > 1 or any(item.arg == "map_location" for item in call.keywords) for call in calls]
    return said[0] if len(said) == 1 else None
