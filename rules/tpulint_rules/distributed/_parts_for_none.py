"""What a parent makes for as many processes as there are GPUs: for none, on a TPU machine."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding, Severity
from tpulint.semantic.processes.handovers import Handovers


def parts_for_none(ctx: FileContext) -> Iterator[Finding]:
    """``spawn(work, args=(split(data, n),), nprocs=n)`` with ``n = torch.cuda.device_count()``.

    The parent cannot ask for the number of chips: that would start the runtime, and the processes could not.
    """
    for launch in ctx.index.launches.launches:
        for node in Handovers(ctx.index, launch).makings[:1]:
            message = (
                f"`{ctx.text(node)}` is 0 on a TPU machine, and what the processes are handed is made for so many: "
                "let each make its own part"
            )
            related = ((ctx.index.span(launch.call), "it is handed over here"),)
            yield ctx.finding(node, message, severity=Severity.ERROR, related=related)
