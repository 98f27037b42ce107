"""The XLA runtime started before a process of torchrun knows which chip is its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic.process_groups import Join
from tpulint_rules.distributed._runtime_start import named_only, starts_runtime


def check(ctx: FileContext) -> Iterator[Finding]:
    if ctx.index.launches:
        return  # what launch starts knows its chip from the start
    told: set[ast.AST] = set()
    for join in ctx.index.process_groups.joins:
        if not _gives_chip(join):
            continue
        for node in ctx.index.launches.before(join.call):
            if not isinstance(node, ast.Call) or node in told:
                continue
            if (started := starts_runtime(ctx, node)) is not None:
                told.add(node)
                message = (
                    f"{started} starts the XLA runtime before `init_process_group` has given the process its chip: "
                    "under torchrun every process takes all chips"
                )
                related = ((ctx.index.span(join.call), "the process learns its chip here"),)
                yield ctx.finding(node, message, named_only(ctx, node), related=related)


def _gives_chip(join: Join) -> bool:
    method = join.given.get("init_method")
    return join.is_portable or (isinstance(method, ast.Constant) and method.value == "xla://")
