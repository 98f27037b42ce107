"""A training loop in which nothing tells where a step ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Scope, Span
from tpulint.semantic import LoopNode

SAFE = "A step boundary changes when the recorded work runs, not what it computes."
LIKELY = "That this loop updates parameters is likely, not certain."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every step loop without a boundary."""
    index = ctx.index
    if not index.kinds.mentions_device:
        return
    for loop in index.step_loops:
        if loop.boundaries:
            continue
        certain = loop.is_certain
        places = index.turns.boundary_places(loop)
        fix = ctx.fix(
            "Mark the end of the step",
            Applicability.SAFE if certain else Applicability.UNSAFE,
            SAFE if certain else LIKELY,
            Scope.STATEMENT,
        )
        for place in places:
            fix.insert_after(place, fix.emit.boundary(place))
        yield ctx.finding(
            header(ctx, loop.node),
            "training loop has no step boundary: the graph grows from step to step and is compiled anew each time",
            fix,
            certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
        )


def header(ctx: FileContext, loop: LoopNode) -> Span:
    """The first line of a loop, up to its colon."""
    last = loop.test if isinstance(loop, ast.While) else loop.iter
    return Span(ctx.index.span(loop).start, ctx.index.span(last).end)
