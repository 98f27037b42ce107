"""A clock read before the device has finished."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import Step
from tpulint.semantic.loops.stretches import Stretch


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.moves.has_device:
        return
    for stretch in ctx.index.stretches.unwaited():
        message = "the clock is read before the device has finished: what is measured is how long recording took"
        yield ctx.finding(stretch.end, message, _fix(ctx, stretch), certainty=Certainty.LIKELY)


def _fix(ctx: FileContext, stretch: Stretch) -> FixBuilder | None:
    """Wait at the last boundary of the stretch, or at its end where that cuts no step in two."""
    reason = "The program waits for the device here, which costs time where steps follow one another."
    fix = ctx.fix("Wait for the device", Applicability.UNSAFE, reason, Scope.STATEMENT)
    if stretch.boundaries:
        last = stretch.boundaries[-1]
        if not isinstance(ctx.index.parent(last), ast.Expr):
            return None
        fix.set_argument(last, "wait", "True")
        return fix
    step = ctx.index.step_loop_of(stretch.end)
    if step is not None and not (step.boundaries and _holds_update(ctx, step, stretch)):
        return None  # the boundary that is missing comes first
    end = ctx.index.statement_of(stretch.end)
    fix.insert_before(end, fix.emit.boundary(end).removesuffix(")") + "wait=True)")
    return fix


def _holds_update(ctx: FileContext, step: Step, stretch: Stretch) -> bool:
    """Whether the last update of a step is in the stretch, so that a boundary behind it ends the step."""
    updates = [*step.updates, *step.manual_updates]
    if not updates:
        return False
    last = max(updates, key=ctx.index.tree.start)
    return any(ctx.index.tree.encloses(statement, last) for statement in stretch.statements)
