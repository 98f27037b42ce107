"""Waiting for all processes of Accelerate in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic import Pace

_ACCELERATOR = ("accelerate.Accelerator", "accelerate.accelerator.Accelerator")
_REASON = "Processes wait for each other where gradients are reduced, and nowhere else."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call, receiver in index.method_calls("wait_for_everyone"):
        if index.pace_of(call) is not Pace.STEP or index.regions.gate_of(call) is not None:
            continue
        made = [creation.node for creation in index.moves.creations.of(receiver)]
        if not made or not all(isinstance(m, ast.Call) and index.qualified_name(m.func) in _ACCELERATOR for m in made):
            continue
        fix = None
        statement = index.statement_of(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            fix = ctx.fix("Remove the wait", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
            fix.delete(statement)
        message = "`wait_for_everyone` in every step reads from the device, and lets it run out of work"
        yield ctx.finding(call, message, fix)
