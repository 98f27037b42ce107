"""The XLA runtime started in the process that is to start others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint_rules.distributed._runtime_start import named_only, starts_runtime, unseeded


def check(ctx: FileContext) -> Iterator[Finding]:
    told: set[ast.AST] = set()
    for launch in ctx.index.launches.launches:
        if not launch.starts_processes:
            continue
        for node in ctx.index.launches.before(launch.call):
            if not isinstance(node, ast.Call) or node in told:
                continue
            if (started := starts_runtime(ctx, node)) is not None:
                told.add(node)
                message = f"{started} starts the XLA runtime in the parent process; `{launch.launcher}` raises then"
                related = ((ctx.index.span(launch.call), "the processes are started here"),)
                fix = named_only(ctx, node) or unseeded(ctx, node)
                yield ctx.finding(node, message, fix, related=related)
