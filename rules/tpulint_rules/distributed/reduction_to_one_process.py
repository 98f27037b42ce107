"""Collectives to one process, in which the process group of torch_xla sets a step boundary."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic import Pace

_TO_ALL = {"reduce": "all_reduce", "gather": "all_gather"}
"""Collectives to one process, and those to all of them, which are part of the graph of the step."""


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.process_groups.on_device:
        return
    for name, to_all in _TO_ALL.items():
        for call in ctx.index.calls_to(f"torch.distributed.{name}"):
            in_other_group = len(call.args) > 3 or any(keyword.arg == "group" for keyword in call.keywords)
            if ctx.index.pace_of(call) is Pace.STEP and not in_other_group:
                yield ctx.finding(
                    call,
                    f"`{name}` sets a step boundary of its own on XLA: two graphs in every step",
                    help=f"`{to_all}` is part of the graph of the step; do the same in every process behind it",
                )
