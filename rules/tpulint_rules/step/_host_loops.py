"""Loops whose model is on the host, beside others on the device."""

from __future__ import annotations

import ast

from tpulint.context import FileContext

_MOVES = ("to", "cuda")


def runs_on_host(ctx: FileContext, loop: ast.AST) -> bool:
    """Whether the modules that a loop runs are left on the host, and nothing in it moves: nothing is recorded."""
    index = ctx.index
    calls = index.tree.nodes_in(loop, ast.Call, functions=False)
    if any(isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES for call in calls):
        return False
    return index.moves.stay_on_host([call.func for call in calls if index.regions.evaluation.runs.is_run(call)])
