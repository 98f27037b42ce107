"""A branch that a value of the device decides, in every step."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding, Severity
from tpulint.semantic import Pace, Use
from tpulint_rules.host_sync._device_values import short


def check(ctx: FileContext) -> Iterator[Finding]:
    """Tests, loops and assertions on device tensors."""
    index = ctx.index
    for loop in index.step_loops:
        for read in index.deferrals.reads_of(loop):
            if read.use is not Use.BRANCH or index.pace_of(read.node) is not Pace.STEP:
                continue
            yield ctx.finding(
                read.node, f"`{short(ctx.text(read.tensor))}` decides what Python does, in every step: the host waits for the device",
                severity=Severity.WARNING if loop.boundaries and index.deferrals.is_behind_boundary(read.node, loop) else Severity.ERROR,
                certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
                help="test every n steps behind the step boundary, or choose between values on the device with torch.where",
            )  # fmt: skip
