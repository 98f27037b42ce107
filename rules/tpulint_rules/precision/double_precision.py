"""float64 has no units on a TPU and is computed in pieces."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import Kind, Side

_FLOAT64 = ("torch.float64", "torch.double")


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.moves.has_device:
        return
    advice = "Convert to float32 where the data enters: `.float()`"
    for call, receiver in ctx.index.method_calls("double"):
        value = ctx.index.value(receiver)
        on_device = value.kind is Kind.MODULE or (value.kind is Kind.TENSOR and value.side is Side.DEVICE)
        if on_device and not call.args and not call.keywords:
            certainty = Certainty.CERTAIN if value.certain else Certainty.LIKELY
            yield ctx.finding(
                call,
                "`.double()` keeps float64 on the device, which a TPU computes in pieces",
                help=advice,
                certainty=certainty,
            )
    for node, name in ctx.index.references(*_FLOAT64):
        if name in _FLOAT64 and _on_device(ctx, node):
            yield ctx.finding(
                node, f"`{name}` stays float64 on the device, which a TPU computes in pieces", help=advice
            )


def _on_device(ctx: FileContext, node: ast.expr) -> bool:
    parent = ctx.index.parent(node)
    if isinstance(parent, ast.Call) and ctx.index.qualified_name(parent.func) == "torch.set_default_dtype":
        return True
    if isinstance(parent, ast.keyword) and parent.arg == "dtype":
        call = ctx.index.parent(parent)
        return isinstance(call, ast.Call) and any(
            item.arg == "device" and ctx.index.moves.is_device(item.value) is not None for item in call.keywords
        )
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr == "to"
        and (value := ctx.index.value(parent.func.value)).kind in (Kind.TENSOR, Kind.MODULE)
        and value.side is not Side.HOST
    )
