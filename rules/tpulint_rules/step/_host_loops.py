"""Loops whose model is on the host, beside others on the device."""

from __future__ import annotations

import ast

from tpulint.context import FileContext


def runs_on_host(ctx: FileContext, loop: ast.AST) -> bool:
    """Whether the modules that a loop runs are left on the host: nothing of it is recorded for a device."""
    index = ctx.index
    calls = index.tree.nodes_in(loop, ast.Call, functions=False)
    return index.moves.stay_on_host([call.func for call in calls if index.regions.evaluation.is_run(call)])
