"""What a mask chooses of one tensor, written where the same mask is true in another."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability

_SAME = "The same elements are written where both tensors have one shape; one that had more elements would raise."
_PLAIN = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.Constant, ast.Compare, ast.BinOp, ast.UnaryOp,
    ast.expr_context, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
"""What gives the same each time it is evaluated."""


def scattered_choice(ctx: FileContext, node: ast.expr) -> FixBuilder | None:
    """``x.masked_scatter_(mask, y.masked_select(mask))`` as ``x.copy_(torch.where(mask, y, x))``."""
    call = ctx.index.parent(node)
    chosen = _chosen(ctx, node)
    if chosen is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    target, (tensor, mask) = call.func.value, chosen
    if call.func.attr not in ("masked_scatter", "masked_scatter_") or call.keywords or len(call.args) != 2:
        return None
    if call.args[1] is not node or ctx.text(call.args[0]) != ctx.text(mask):
        return None
    if not _is_plain(mask) or not _is_plain(target) or ctx.index.qualified_name(call.func) is not None:
        return None
    fix = ctx.fix("Choose on the device", Applicability.UNSAFE, _SAME)
    text = ctx.text(target)
    made = f"{fix.use('torch', at=node)}.where({ctx.text(mask)}, {ctx.text(tensor)}, {text})"
    fix.replace(call, f"{text}.copy_({made})" if call.func.attr.endswith("_") else made)
    return fix


def _chosen(ctx: FileContext, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The tensor and the mask of ``y.masked_select(mask)`` and ``y[mask]``."""
    if isinstance(node, ast.Subscript):
        return (node.value, node.slice) if ctx.index.masks.is_mask(node.slice) else None
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    given = list(node.args)
    if isinstance(node.func, ast.Attribute) and ctx.index.qualified_name(node.func) is None:
        given.insert(0, node.func.value)
    is_choice = isinstance(node.func, ast.Attribute) and node.func.attr == "masked_select"
    return (given[0], given[1]) if is_choice and len(given) == 2 else None


def _is_plain(node: ast.expr) -> bool:
    return all(isinstance(part, _PLAIN) for part in ast.walk(node))
