"""Numbers that are read one by one to be added up: ``sum(p.grad.norm().item() ** 2 for p in model.parameters())``."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import How, Read
from tpulint_rules.host_sync._device_values import keep_on_device

_ON_DEVICE = "The sum is made on the device, in the precision of its parts, and read once."
_KEEPING = (ast.Pow, ast.Mult, ast.Div, ast.Add, ast.Sub)


def summed(ctx: FileContext, read: Read) -> FixBuilder | None:
    """Add up on the device what a comprehension gives, and read the sum."""
    index = ctx.index
    if read.how is not How.COPY or not index.scalars.is_number(read):
        return None
    node: ast.AST = read.node
    parent = index.parent(node)
    while isinstance(parent, ast.BinOp) and isinstance(parent.op, _KEEPING) and _is_plain(parent, node):
        node, parent = parent, index.parent(parent)
    call = index.parent(parent) if isinstance(parent, ast.GeneratorExp | ast.ListComp) else None
    if not isinstance(call, ast.Call) or index.qualified_name(call.func) != "builtins.sum":
        return None
    if call.args != [parent] or call.keywords or parent.elt is not node:  # type: ignore[union-attr]
        return None
    if any(item.ifs for item in parent.generators):  # type: ignore[union-attr]
        return None
    kind = _number(ctx, read.tensor)
    if kind is None:
        return None
    fix = ctx.fix("Add up on the device", Applicability.UNSAFE, _ON_DEVICE, Scope.EXPRESSION)
    keep_on_device(fix, index, read)
    start, end = index.span(call)
    fix.insert(start, f"{kind}(")
    fix.insert(end, ")")
    return fix


def _is_plain(operation: ast.BinOp, part: ast.AST) -> bool:
    other = operation.right if operation.left is part else operation.left
    return isinstance(other, ast.Constant)


def _number(ctx: FileContext, tensor: ast.expr) -> str | None:
    """The type of the numbers that are added up, where it is known: that of gradients is."""
    if ctx.index.number_types.is_integer(tensor):
        return "int"
    has_gradient = any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in ast.walk(tensor))
    return "float" if has_gradient or ctx.index.number_types.is_floating(tensor) else None
