"""Tensors of a GPU's class that are filled where they are made: ``torch.cuda.FloatTensor(n, 4).normal_()``."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic.devices.tensor_types import TypeUse

_DRAWS = {"normal_": "randn", "uniform_": "rand"}
_FILLS = frozenset({*_DRAWS, "fill_", "zero_"})


def is_filled_on_device(ctx: FileContext, use: TypeUse, call: ast.Call) -> bool:
    """``torch.cuda.FloatTensor(n, 4).normal_(0, 0.1)``: what a GPU drew or filled, the device can fill as well."""
    filled = ctx.index.tensor_types.filled(call)
    if use.name != "FloatTensor" or call.func is not use.node or call.keywords:
        return False
    is_one_call = isinstance(filled.func, ast.Attribute) and filled.func.value is call
    if not is_one_call or not isinstance(filled.func, ast.Attribute) or filled.func.attr not in _FILLS:
        return False
    if any(item.arg == "generator" for item in filled.keywords):
        return False
    # One list would be values, not sizes.
    is_sized = len(call.args) > 1 or (len(call.args) == 1 and _is_size(call.args[0]))
    others = ("torch.set_default_dtype", "torch.set_default_tensor_type")
    return is_sized and not any(any(ctx.index.calls_to(name)) for name in others)


def fill_on_device(ctx: FileContext, fix: FixBuilder, call: ast.Call, device: str) -> None:
    """``torch.randn(n, 4, device=device)``, or an empty tensor that is filled as the other was."""
    filled = ctx.index.tensor_types.filled(call)
    method = filled.func.attr if isinstance(filled.func, ast.Attribute) else ""
    given = [item.value if isinstance(item, ast.Constant) else None for item in filled.args]
    is_standard = method in _DRAWS and given in ([], [0, 1]) and not filled.keywords
    sizes = ", ".join(fix.text(size) for size in call.args)
    made = f"{fix.use('torch', at=call)}.{_DRAWS[method] if is_standard else 'empty'}({sizes}, device={device})"
    fix.replace(filled if is_standard else call, made)


def _is_size(node: ast.expr) -> bool:
    """``x.size()`` or ``x.shape``, of any rank, or one number."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        return isinstance(node.func, ast.Attribute) and node.func.attr == "size"
    return isinstance(node, ast.Attribute) and node.attr == "shape"
