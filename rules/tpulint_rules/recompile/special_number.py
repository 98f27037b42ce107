"""A factor that is exactly 0 or 1 in some steps is a constant of their graph, and an input of the others'."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import FUNCTIONS, Kind, Side

_SPECIAL = (0, 1, -1)
_LIMITS = {"builtins.min": 1, "builtins.max": 0}
_DEPTH = 4


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.step_loops or not index.kinds.mentions_device:
        return
    for node in index.turn_code.nodes(ast.BinOp):
        if not isinstance(node.op, ast.Mult) or index.step_loop_of(node) is None:
            continue
        for number, tensor in ((node.left, node.right), (node.right, node.left)):
            value = index.value(tensor)
            if value.kind is not Kind.TENSOR or value.side is Side.HOST or index.kind(number) is Kind.TENSOR:
                continue
            found = _cause(ctx, number, 0)
            if found is None:
                continue
            where, special = found
            yield ctx.finding(
                node,
                f"`{ctx.text(number)}` is {special} in some steps, and then a constant of the graph, not an input: "
                "the step is compiled for both",
                certainty=Certainty.LIKELY,
                related=()
                if index.statement_of(where) is index.statement_of(node)
                else ((index.span(where), "set here"),),
            )


def _cause(ctx: FileContext, number: ast.expr, depth: int) -> tuple[ast.expr, str] | None:
    """What makes a number 0 or 1 in some steps and another one in others, and which of them; None if unknown."""
    index = ctx.index
    if isinstance(number, ast.Name) and depth < _DEPTH:
        bindings = index.flow.reaching(number)
        if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path or bindings[0].value is None:
            return None
        return _cause(ctx, bindings[0].value, depth + 1)
    if isinstance(number, ast.BinOp) and isinstance(number.op, ast.Mult):
        # A factor of 0 makes the whole 0, one of 1 leaves the other.
        found = _cause(ctx, number.left, depth + 1) or _cause(ctx, number.right, depth + 1)
        return found if found is not None and found[1] == "0" else None
    if isinstance(number, ast.IfExp):
        sides = [_constant(side) for side in (number.body, number.orelse)]
        special = sorted((side for side in sides if side in _SPECIAL), key=_SPECIAL.index)
        if special and sides[0] != sides[1] and _changes(ctx, number.test, 0):
            return number, f"{special[0]:g}"
    if isinstance(number, ast.Call) and len(number.args) == 2 and not number.keywords:
        limit = _LIMITS.get(index.qualified_name(number.func) or "")
        others = [item for item in number.args if _constant(item) != limit]
        if limit is not None and len(others) == 1 and _grows(ctx, others[0]):
            return number, str(limit)
    return None


def _constant(node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _constant(node.operand)
        return None if found is None else -found
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None


def _grows(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression is a share of the steps or epochs that are done."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult | ast.Sub) and _changes(ctx, node, 0)


def _changes(ctx: FileContext, node: ast.expr, depth: int) -> bool:
    """Whether an expression depends on a counter of steps or epochs."""
    names = [item for item in (node, *ctx.index.tree.inside(node)) if isinstance(item, ast.Name)]
    return any(_counts(ctx, name, depth) for name in names)


def _counts(ctx: FileContext, name: ast.Name, depth: int) -> bool:
    index = ctx.index
    for binding in index.names.bindings(name):
        if binding.kind == "loop" and isinstance(binding.value, ast.Call):
            called = index.qualified_name(binding.value.func)
            if called == "builtins.range" or (called == "builtins.enumerate" and binding.path == (0,)):
                return True
        if binding.kind == "augment" and isinstance(binding.value, ast.Constant):
            return True
        if binding.kind == "parameter" and depth < _DEPTH and isinstance(binding.scope.node, FUNCTIONS):
            given = index.definitions.arguments.of(binding.scope.node, binding.name)
            if any(_changes(ctx, item, depth + 1) for item in given):
                return True
    return False
