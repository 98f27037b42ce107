"""Numbers that a loop within the step reads, ``if turn == 0: first = loss.item()``, fetched behind the boundary."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Read, Step
from tpulint.semantic.reads.inner_turns import inner_values
from tpulint_rules.host_sync._device_values import keep_on_device, torch_text
from tpulint_rules.host_sync._tuple_lines import tuple_line, width_at

_HELD = "The loop has turns in every step; arithmetic is done in float32 on the device, in place of float64."


def fetched_behind(ctx: FileContext, loop: Step, reads: Sequence[Read]) -> dict[ast.expr, FixBuilder]:
    """One fix for all of these reads whose variables can hold the tensors up to the boundary."""
    index = ctx.index
    boundary = index.boundaries.sync_of(loop)
    values = [] if boundary is None else inner_values(index, loop, reads, boundary)
    if boundary is None or not values:
        return {}
    fix = ctx.fix("Keep the tensor and read it behind the step boundary", Applicability.UNSAFE, _HELD, Scope.LOOP)
    for value in values:
        for read in value.reads:
            keep_on_device(fix, index, read)
    if len(values) == 1:
        fix.insert_after(boundary, f"{values[0].name} = {values[0].name}.item()")
    else:
        stack, width = index.names.fresh("step_values", boundary), width_at(fix, boundary)
        items = [value.name if value.is_scalar else f"{value.name}.reshape(())" for value in values]
        opening = f"{stack} = {torch_text(fix, index, boundary)}.stack("
        fix.insert_before(boundary, tuple_line(opening, items, ")", width))
        fix.insert_after(boundary, tuple_line("", [value.name for value in values], f" = {stack}.tolist()", width))
    return {read.node: fix for value in values for read in value.reads}
