"""Where what a call gives must be a number: it is compared with one, or chooses an element of a list."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FileContext

_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_MEMBERSHIP = (ast.In, ast.NotIn)


def is_number(ctx: FileContext, node: ast.expr) -> bool:
    """Whether the call of a function stands for a number, ``current_device() == 0``, ``stores[current_device()]``.

    It does so itself or by a variable.
    """
    call = ctx.index.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return False
    statement = ctx.index.parent(call)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        loads = ctx.index.names.loads_of(target) if isinstance(target, ast.Name) else []
        return bool(loads) and all(_is_operand(ctx, load) for load in loads)
    return _is_operand(ctx, call)


def _is_operand(ctx: FileContext, node: ast.expr) -> bool:
    comparison = ctx.index.parent(node)
    if isinstance(comparison, ast.Subscript):
        return comparison.slice is node
    if isinstance(comparison, ast.UnaryOp):
        return isinstance(comparison.op, ast.Not)
    if not isinstance(comparison, ast.Compare):
        return False
    if comparison.left is node and all(isinstance(op, _MEMBERSHIP) for op in comparison.ops):
        return True
    others = [one for one in (comparison.left, *comparison.comparators) if one is not node]
    return all(isinstance(op, _ORDERS) for op in comparison.ops) or any(map(_is_whole, others))


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
