"""A branch that a value of the device decides, in every step."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding, Severity
from tpulint.semantic import Pace, Read, Use
from tpulint.semantic.turn_code import STEP
from tpulint_rules.host_sync._device_values import short
from tpulint_rules.host_sync.tensor_read_in_step_loop import caller_of


def check(ctx: FileContext) -> Iterator[Finding]:
    """Tests, loops and assertions on device tensors."""
    index = ctx.index
    for loop in (*index.steps, *index.steps_called):
        for read in index.deferrals.reads_of(loop):
            if read.use is Use.BRANCH and index.pace_of(read.node) is Pace.STEP:
                behind = index.deferrals.has_boundary(loop) and index.deferrals.is_behind_boundary(read.node, loop)
                yield _finding(ctx, read, f"step{caller_of(loop)}", Severity.WARNING if behind else Severity.ERROR)
    deciding = [read for node in index.regions.evaluation_loops for read in index.reads.inside(node)]
    for called in index.evaluations_called:
        deciding.extend(index.deferrals.reads_of(called))
    for read in deciding:
        gated = index.regions.gate_of(read.node) is not None
        if read.use is Use.BRANCH and not gated and index.pace_of(read.node) is Pace.EVALUATION:
            yield _finding(ctx, read, "evaluation batch", Severity.WARNING)
    for read, turn in index.turn_code.reads:
        if read.use is Use.BRANCH:
            yield _finding(ctx, read, turn, Severity.ERROR if turn == STEP else Severity.WARNING)


def _finding(ctx: FileContext, read: Read, where: str, severity: Severity) -> Finding:
    text = short(ctx.text(read.tensor))
    return ctx.finding(
        read.node,
        f"`{text}` decides what Python does, in every {where}: the host waits for the device",
        severity=severity,
        certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
        help="test every n steps behind the step boundary, or choose on the device with torch.where",
    )
