"""Reading a value of the device once per epoch."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext, short
from tpulint.model import Certainty, Finding


def check(ctx: FileContext) -> Iterator[Finding]:
    """Reads in epoch loops, outside of their steps and evaluation batches."""
    for read in ctx.index.paces.reads_per_epoch():
        yield ctx.finding(
            read.node,
            f"`{short(ctx.text(read.tensor))}` is {read.how.value} in every epoch: the host waits until all that "
            "was started has run",
            certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
        )
