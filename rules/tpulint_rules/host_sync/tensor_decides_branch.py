"""A branch that a value of the device decides, in every step."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding, Severity
from tpulint.semantic import Pace, Read, Use
from tpulint_rules.host_sync._device_values import short


def check(ctx: FileContext) -> Iterator[Finding]:
    """Tests, loops and assertions on device tensors."""
    index = ctx.index
    for loop in index.steps:
        for read in index.deferrals.reads_of(loop):
            if read.use is Use.BRANCH and index.pace_of(read.node) is Pace.STEP:
                behind = bool(loop.boundaries) and index.deferrals.is_behind_boundary(read.node, loop)
                yield _finding(ctx, read, "step", Severity.WARNING if behind else Severity.ERROR)
    for node in index.regions.evaluation_loops:
        for read in index.reads.inside(node):
            gated = index.regions.gate_of(read.node) is not None
            if read.use is Use.BRANCH and not gated and index.pace_of(read.node) is Pace.EVALUATION:
                yield _finding(ctx, read, "evaluation batch", Severity.WARNING)


def _finding(ctx: FileContext, read: Read, where: str, severity: Severity) -> Finding:
    text = short(ctx.text(read.tensor))
    return ctx.finding(
        read.node,
        f"`{text}` decides what Python does, in every {where}: the host waits for the device",
        severity=severity,
        certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
        help="test every n steps behind the step boundary, or choose on the device with torch.where",
    )
