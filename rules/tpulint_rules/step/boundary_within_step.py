"""A step boundary that cuts a step in two."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic import Kind, Step
from tpulint.semantic.events import SYNCS


def check(ctx: FileContext) -> Iterator[Finding]:
    for step in ctx.index.steps:
        suite = step.node.body
        found = [place for place, statement in enumerate(suite) if _is_boundary(ctx, statement)]
        for place in found:
            part = _cut(ctx, step, suite, place)
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


def _cut(ctx: FileContext, step: Step, suite: list[ast.stmt], place: int) -> str | None:
    """What the boundary at a place stands between; None where no step is under way there."""
    index = ctx.index
    updates = [at for at, statement in enumerate(suite) if index.regions.updates_in(statement)]
    backwards = [
        at for at, statement in enumerate(suite) if any(index.tree.encloses(statement, call) for call in step.backwards)
    ]
    if not updates or not backwards or any(isinstance(suite[at], ast.If) for at in (*updates, *backwards)):
        return None  # some turns only add up gradients
    begun = max((at for at in updates if at < place), default=-1)
    ended = min((at for at in updates if at > place), default=None)
    if ended is None:
        return None
    passes = [at for at in backwards if begun < at <= ended]
    if any(at < place for at in passes):
        return "`backward()` and the update" if not any(at > place for at in passes) else None
    forward = any(_runs_model(ctx, statement) for statement in suite[begun + 1 : place])
    return (
        "the forward and the backward pass" if forward and passes and _uses(ctx, suite, begun, place, passes) else None
    )


def _runs_model(ctx: FileContext, statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Call)
        and ctx.index.kind(node.func) is Kind.MODULE
        and ctx.index.regions.records_gradient(node)
        for node in ctx.index.tree.inside(statement, functions=False)
    )


def _uses(ctx: FileContext, suite: list[ast.stmt], begun: int, place: int, passes: list[int]) -> bool:
    """Whether the backward pass begins at what was computed in front of the boundary."""
    bound = {
        node.id
        for statement in suite[begun + 1 : place]
        for node in ctx.index.tree.inside(statement, functions=False)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return any(
        isinstance(node, ast.Name) and node.id in bound
        for at in passes
        for node in ctx.index.tree.inside(suite[at], functions=False)
    )
