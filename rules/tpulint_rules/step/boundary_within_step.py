"""A step boundary that cuts a step in two."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic.events import SYNCS


def check(ctx: FileContext) -> Iterator[Finding]:
    for step in ctx.index.steps:
        suite = step.node.body
        found = [place for place, statement in enumerate(suite) if _is_boundary(ctx, statement)]
        for place in found:
            part = ctx.index.step_cuts.part(step, place)
            if part is None:
                continue
            updates = [at for at, statement in enumerate(suite) if ctx.index.regions.updates_in(statement)]
            fix = None
            if any(other > max(updates) for other in found):
                reason = "The step may have been cut on purpose, because its graph is too large."
                fix = ctx.fix("End the step once", Applicability.UNSAFE, reason, Scope.STATEMENT)
                fix.delete(suite[place])
            yield ctx.finding(suite[place], f"the boundary cuts the step between {part}: two graphs in every step", fix)


def _is_boundary(ctx: FileContext, statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and ctx.index.qualified_name(value.func) in SYNCS
