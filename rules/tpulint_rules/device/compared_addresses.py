"""Addresses of tensors that are compared: on an XLA device all of them are 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding
from tpulint.semantic import Side

_SAME = {ast.Eq: "is", ast.NotEq: "is not"}
_REASON = "Two views of the same memory are two objects."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    addresses = {call: tensor for call, tensor in index.method_calls("data_ptr") if not call.args}
    seen: set[ast.AST] = set()
    for call in addresses:
        comparison = index.parent(call)
        if not isinstance(comparison, ast.Compare) or comparison in seen:
            continue
        seen.add(comparison)
        tensors = [addresses.get(side) for side in (comparison.left, *comparison.comparators)]  # type: ignore[call-overload]
        if None in tensors or not all(type(operator) in _SAME for operator in comparison.ops):
            continue
        if _may_be_on_device(ctx, comparison, [one for one in tensors if one is not None]):
            message = "`data_ptr()` is 0 for every tensor of an XLA device: these are always equal"
            yield ctx.finding(comparison, message, _as_objects(ctx, comparison, addresses))


def _may_be_on_device(ctx: FileContext, comparison: ast.Compare, tensors: list[ast.expr]) -> bool:
    """Whether a tensor lies on the device, or comes to a module of which nobody says that it stays on the host."""
    index = ctx.index
    if isinstance(index.statement_of(comparison), ast.Assert):
        return False  # a test of what shares memory, on the host
    if index.devices.is_guarded(comparison) or any(index.value(one).side is Side.HOST for one in tensors):
        return False
    owner = index.tree.class_of(comparison)
    in_module = owner is not None and index.definitions.is_module_class(owner)
    return in_module or any(map(index.is_device_tensor, tensors))


def _as_objects(ctx: FileContext, comparison: ast.Compare, addresses: dict[ast.Call, ast.expr]) -> FixBuilder | None:
    sides = [comparison.left, *comparison.comparators]
    tensors = [addresses[side] for side in sides if isinstance(side, ast.Call)]
    if not all(isinstance(one, ast.Name | ast.Attribute) for one in tensors):
        return None
    fix = ctx.fix("Compare the objects", Applicability.UNSAFE, _REASON)
    words = [ctx.text(tensors[0])]
    for operator, tensor in zip(comparison.ops, tensors[1:], strict=True):
        words += [_SAME[type(operator)], ctx.text(tensor)]
    fix.replace(comparison, " ".join(words))
    return fix
