"""The XLA runtime started before a process of torchrun knows which chip is its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint_rules.distributed._runtime_start import named_only, starts_runtime


def check(ctx: FileContext) -> Iterator[Finding]:
    if ctx.index.launches:
        return  # what launch starts knows its chip from the start
    told: set[ast.AST] = set()
    for joining in _joining(ctx):
        for node in ctx.index.launches.before(joining):
            if not isinstance(node, ast.Call) or node in told:
                continue
            if (started := starts_runtime(ctx, node)) is not None:
                told.add(node)
                message = (
                    f"{started} starts the XLA runtime before `init_process_group` has given the process its chip: "
                    "under torchrun every process takes all chips"
                )
                related = ((ctx.index.span(joining), "the process learns its chip here"),)
                yield ctx.finding(node, message, named_only(ctx, node), related=related)


def _joining(ctx: FileContext) -> Iterator[ast.Call]:
    """Calls that tell the process its chip, by themselves or in a function of another file."""
    groups = ctx.index.process_groups
    yield from (join.call for join in groups.joins if join.is_portable or join.is_xla)
    yield from (call for call in ctx.index.imported.calls if groups.of_device_behind(call))  # ported after this, maybe
