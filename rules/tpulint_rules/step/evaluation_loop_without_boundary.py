"""An evaluation loop whose batches all end up in one graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope, Span

SAFE = "A step boundary changes when the recorded work runs, not what it computes."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every evaluation loop without a boundary."""
    index = ctx.index
    if not index.kinds.mentions_device:
        return
    for loop in index.regions.evaluation_loops:
        if index.regions.boundaries_in(loop):
            continue
        fix = ctx.fix("Run each batch on its own", Applicability.SAFE, SAFE, Scope.STATEMENT)
        place = index.turns.evaluation_place(loop)
        fix.insert_after(place, fix.emit.boundary(place))
        last = loop.test if isinstance(loop, ast.While) else loop.iter
        where = Span(index.span(loop).start, index.span(last).end)
        yield ctx.finding(where, "evaluation loop has no step boundary: all of its batches become one graph", fix)
