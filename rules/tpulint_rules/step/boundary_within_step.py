"""A step boundary that cuts a step in two."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic.loops.clocks import WAITS
from tpulint.semantic.loops.direct_events import SYNCS


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
        for place, statement in enumerate(suite):
            entered = _waiting_block(ctx, statement)
            part = None if entered is None else ctx.index.step_cuts.part(step, place)
            if entered is not None and part is not None:
                yield ctx.finding(
                    entered,
                    f"`{ctx.text(entered)}` waits for the device and cuts the step between {part}: "
                    "two graphs in every step",
                    certainty=Certainty.LIKELY,
                    help="measure whole steps, with one wait at the step boundary; a profile tells what is in them",
                )


def _is_boundary(ctx: FileContext, statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and ctx.index.qualified_name(value.func) in SYNCS


def _waiting_block(ctx: FileContext, statement: ast.stmt) -> ast.expr | None:
    """What a ``with`` enters that waits for the device: a clock, of a class of this file whose code has such a call."""
    index = ctx.index
    for item in statement.items if isinstance(statement, ast.With) else ():
        for made in index.members_of(item.context_expr):
            bindings = index.flow.reaching(made) if isinstance(made, ast.Name) else ()
            call = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else made
            owner = index.definitions.class_called(call) if isinstance(call, ast.Call) else None
            if owner is None or index.definitions.method(owner, "__enter__") is None:
                continue
            calls = (node for node in index.tree.nodes_in(owner, ast.Call) if isinstance(node, ast.Call))
            if any(index.qualified_name(node.func) in (*SYNCS, *WAITS) for node in calls):
                return item.context_expr
    return None
