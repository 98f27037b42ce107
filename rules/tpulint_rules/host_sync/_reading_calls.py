"""Calls of functions of other files that read what they compute, in front of the step boundary."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Certainty, Finding, Severity
from tpulint.semantic import Step
from tpulint.semantic.reading_calls import ReadingCalls


def reading_calls(ctx: FileContext, loop: Step) -> dict[ast.expr, ast.stmt]:
    """Those of a step, with the statements that they stand in."""
    boundary = ctx.index.boundaries.sync_of(loop) if ctx.index.imported.knows_others else None
    return {} if boundary is None else ReadingCalls(ctx.index).in_front(boundary)


def read_in_calls(
    ctx: FileContext, calls: Mapping[ast.expr, ast.stmt], fixes: Mapping[ast.expr, FixBuilder]
) -> Iterator[Finding]:
    """Told where the call can stand behind the boundary; the read itself is told of in its own file."""
    for call in calls:
        if call in fixes:
            yield ctx.finding(
                call,
                f"`{short(ctx.text(call))}` reads what it computes in front of the step boundary, so that the step is "
                "run twice: the host waits for the device",
                fixes[call],
                severity=Severity.WARNING,
                certainty=Certainty.LIKELY,
            )
