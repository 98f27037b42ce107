"""A device tensor that keeps its name from turn to turn and is given its size anew in each: ``noise.resize_(...)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import Binding, Kind, Side
from tpulint_rules.recompile._made_anew import made_anew


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every such call; those of one variable are mended together, or the last would resize what was made anew."""
    index = ctx.index
    if not index.turn_code.exists:
        return
    found: dict[tuple[object, str], list[tuple[ast.Call, str, bool]]] = {}
    for call, tensor in index.method_calls("resize_"):
        turn = index.turn_code.turn_of(call)
        kept = [] if turn is None else _kept(ctx, tensor)
        values = [index.kinds.binding_value(binding) for binding in kept]
        # `if opt.cuda: noise = noise.to(device)`: where it is not moved, nothing runs on the device.
        if turn is not None and any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values):
            is_certain = all(value.certain for value in values)
            whose = index.names.scope_of(tensor) if isinstance(tensor, ast.Name) else index.tree.class_of(tensor)
            found.setdefault((whose, ctx.text(tensor)), []).append((call, turn, is_certain))
    for (_, name), calls in found.items():
        fix = made_anew(ctx, [call for call, _, _ in calls])
        for call, turn, is_certain in calls:
            yield ctx.finding(
                call,
                f"`{name}` is resized in place in every {turn}: every {turn} is compiled, even where the size "
                "stays the same, and a larger size fails",
                fix,
                certainty=Certainty.CERTAIN if is_certain else Certainty.LIKELY,
            )


def _kept(ctx: FileContext, tensor: ast.expr) -> list[Binding]:
    """Where a variable is set that holds the tensor that the turn before has left."""
    flow = ctx.index.flow
    if isinstance(tensor, ast.Name):
        bindings = flow.reaching(tensor)
    elif isinstance(tensor, ast.Attribute) and isinstance(tensor.value, ast.Name):
        bindings = flow.reaching_attribute(tensor) or flow.inherited_attribute(tensor)
    else:
        return []
    turn_of = ctx.index.turn_code.turn_of
    return [] if any(b.kind != "assign" or turn_of(b.statement) is not None for b in bindings) else list(bindings)
