"""Reading a value of the device in every step, in front of the step boundary."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import How, LoopNode, Pace, Read, SemanticIndex, StepLoop, Use
from tpulint.semantic.held_values import HeldValue
from tpulint_rules.host_sync._device_values import keep_on_device, short

HELD = "The arithmetic is done in float32 on the device, where it was done in float64 on the host."
MOVED = "What is shown is shown after the update of the step, and a clock read beside it reads later."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Reads by ``.item()``, ``.cpu()``, ``float()`` and the like."""
    yield from step_reads(ctx, (How.COPY, How.CAST))


def step_reads(ctx: FileContext, hows: tuple[How, ...]) -> Iterator[Finding]:
    """Reads of these sorts that a step or an evaluation batch cannot afford; totals and branches have rules of their own."""
    index = ctx.index
    for loop in index.step_loops:
        taken = reads_kept_elsewhere(index, loop.node)
        for read in index.deferrals.reads_of(loop):
            if read.how not in hows or read.use is Use.BRANCH or read.node in taken:
                continue
            pace = index.pace_of(read.node)
            held = index.held_values.of(read, loop) if pace is Pace.STEP else None
            if pace not in (Pace.STEP, Pace.LOG_INTERVAL) or index.deferrals.is_behind_boundary(read.node, loop):
                if held is None and (pace is not Pace.STEP or loop.boundaries):
                    continue
            yield _finding(ctx, read, loop, pace, held)
    for node in index.regions.evaluation_loops:
        yield from _evaluation_reads(ctx, node, hows)


def reads_kept_elsewhere(index: SemanticIndex, loop: LoopNode) -> set[ast.expr]:
    """Reads that the rules for totals and lists speak about."""
    reads = [read for total in index.totals.of(loop) for read in total.reads]
    reads += [read for filled in index.filled_lists.of(loop) for read in filled.reads]
    return {read.node for read in reads}


def _finding(ctx: FileContext, read: Read, loop: StepLoop, pace: Pace, held: HeldValue | None) -> Finding:
    severity = Severity.ERROR if pace is Pace.STEP else Severity.WARNING
    often = "in every step" if pace is Pace.STEP else "in front of the step boundary, so that the step is run twice"
    message = f"`{short(ctx.text(read.tensor))}` is {read.how.value} {often}: the host waits for the device"
    certainty = Certainty.CERTAIN if read.certain else Certainty.LIKELY
    fix = _held(ctx, held) if held is not None else _moved(ctx, read, loop)
    return ctx.finding(read.node, message, fix, severity=severity, certainty=certainty)


def _held(ctx: FileContext, held: HeldValue) -> FixBuilder:
    """The variable holding the tensor, and the read where the number is needed."""
    fix = ctx.fix("Keep the tensor and read it where the number is needed", Applicability.UNSAFE, HELD, Scope.LOOP)
    for read in held.reads:
        keep_on_device(fix, ctx.index, read)
    for use in held.uses:
        fix.append(use, ".item()")
    return fix


def _moved(ctx: FileContext, read: Read, loop: StepLoop) -> FixBuilder | None:
    """The statement of the read behind the boundary, if there is one and nothing in between minds."""
    index = ctx.index
    boundary = index.deferrals.boundary_statement(loop)
    if boundary is None:
        return None
    statement = index.statement_of(read.node)
    suite = index.tree.suite_of(boundary)
    while statement not in suite:
        parent = index.parent(statement)
        if parent is None or parent is loop.node or not hasattr(parent, "lineno"):
            return None
        statement = index.statement_of(parent)
    if suite.index(statement) > suite.index(boundary):
        return None
    moved = index.deferrals.movable_with(statement, boundary)
    if moved is None:
        return None
    fix = ctx.fix("Move behind the step boundary", Applicability.UNSAFE, MOVED, Scope.EXPRESSION)
    fix.move_behind(moved, boundary)
    return fix


def _evaluation_reads(ctx: FileContext, node: LoopNode, hows: tuple[How, ...]) -> Iterator[Finding]:
    index = ctx.index
    taken = reads_kept_elsewhere(index, node)
    for read in index.reads.inside(node):
        if (
            read.how in hows
            and read.use is not Use.BRANCH
            and read.node not in taken
            and index.regions.gate_of(read.node) is None
        ):
            if index.pace_of(read.node) is Pace.EVALUATION:
                message = f"`{short(ctx.text(read.tensor))}` is {read.how.value} in every evaluation batch: the host waits for the device"
                certainty = Certainty.CERTAIN if read.certain else Certainty.LIKELY
                yield ctx.finding(read.node, message, severity=Severity.WARNING, certainty=certainty)
