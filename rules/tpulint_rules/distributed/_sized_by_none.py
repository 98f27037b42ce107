"""Tensors of as many parts as there are GPUs: of none on a TPU machine."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.records import NamedTuple
from tpulint.semantic import Kind

_JOINS = frozenset({"torch.cat", "torch.concat", "torch.stack", "torch.vstack", "torch.hstack"})
_SIZED = frozenset({"torch.zeros", "torch.ones", "torch.empty", "torch.rand", "torch.randn"})
_RAISES = "to join a list without elements raises"
_EMPTY = "the tensor has no elements"


class Sized(NamedTuple):
    """A number of GPUs that says how long something is."""

    number: ast.expr
    harm: str


def sized_by_none(ctx: FileContext, call: ast.Call) -> Sized | None:
    """``torch.cat([centers] * gpus)``, ``torch.ones(gpus, 4)``, ``centers.repeat(gpus, 1)``"""
    is_zero = ctx.index.device_counts.is_zero
    name = ctx.index.qualified_name(call.func)
    if name in _JOINS and call.args and isinstance(call.args[0], ast.BinOp) and isinstance(call.args[0].op, ast.Mult):
        sides = (call.args[0].left, call.args[0].right)
        count = next(filter(is_zero, sides), None)
        is_list = any(isinstance(side, ast.List) for side in sides)
        return Sized(count, _RAISES) if count is not None and is_list else None
    is_repeat = isinstance(call.func, ast.Attribute) and call.func.attr == "repeat" and name is None
    if name in _SIZED or (is_repeat and ctx.index.kind(call.func.value) is Kind.TENSOR):  # type: ignore[attr-defined]
        count = next(filter(is_zero, call.args), None)
        return None if count is None else Sized(count, _EMPTY)
    return None
