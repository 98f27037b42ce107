"""A device tensor that keeps its name from turn to turn and is given its size anew in each: ``noise.resize_(...)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import Binding, Kind, Side


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    for call, tensor in index.method_calls("resize_"):
        turn = index.turn_code.turn_of(call)
        kept = [] if turn is None else _kept(ctx, tensor)
        values = [index.kinds.binding_value(binding) for binding in kept]
        # `if opt.cuda: noise = noise.to(device)`: where it is not moved, nothing runs on the device.
        if not any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values):
            continue
        yield ctx.finding(
            call,
            f"`{ctx.text(tensor)}` is resized in place in every {turn}: every {turn} is compiled, even where the size "
            "stays the same, and a larger size fails",
            certainty=Certainty.CERTAIN if all(value.certain for value in values) else Certainty.LIKELY,
        )


def _kept(ctx: FileContext, tensor: ast.expr) -> list[Binding]:
    """Where a variable is set that holds the tensor that the turn before has left."""
    flow = ctx.index.flow
    if isinstance(tensor, ast.Name):
        bindings = flow.reaching(tensor)
    elif isinstance(tensor, ast.Attribute) and isinstance(tensor.value, ast.Name):
        bindings = flow.reaching_attribute(tensor)
    else:
        return []
    turn_of = ctx.index.turn_code.turn_of
    return [] if any(b.kind != "assign" or turn_of(b.statement) is not None for b in bindings) else list(bindings)
