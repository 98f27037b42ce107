"""Functions that act for an agent: they read the action, and keep what the model says beside it for a later update."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import FUNCTIONS, Read

_KEEPING = frozenset({"append", "push", "add", "insert", "store"})
SAFE = "A step boundary changes when the recorded work runs, not what it computes."


def kept_pending(ctx: FileContext) -> Iterator[Finding]:
    """What a function leaves pending in every turn of a loop without a boundary: the read runs the action alone."""
    index = ctx.index
    told: set[ast.stmt] = set()
    for called in index.evaluations_called:
        # A boundary within an update now and then does not run what is pending in every turn.
        boundaries = index.regions.boundaries_in(called.node)
        if any(index.tree.encloses(called.node, one) and index.regions.gate_of(one) is None for one in boundaries):
            continue
        for function in (called.node, *called.functions):
            if not isinstance(function, FUNCTIONS) or index.regions.boundaries_in(function):
                continue
            for read in index.reads.inside(function):
                statement = index.statement_of(read.node)
                kept = _kept_before(ctx, read, statement) if statement not in told else None
                if kept is None or index.function_of(read.node) is not function:
                    continue
                told.add(statement)
                fix = ctx.fix("Run all of the turn in front of the read", Applicability.SAFE, SAFE, Scope.STATEMENT)
                fix.insert_before(statement, fix.emit.boundary(statement))
                yield ctx.finding(
                    read.node,
                    f"the read runs what `{ctx.text(read.tensor)}` needs; `{ctx.text(kept)}`, which is kept, is left "
                    "pending in every turn, and all turns become one graph",
                    fix,
                    certainty=Certainty.LIKELY,
                    related=((index.span(kept), "kept here"),),
                )


def _kept_before(ctx: FileContext, read: Read, statement: ast.stmt) -> ast.expr | None:
    """A tensor that a module computed and the function keeps, in the block of a read and in front of it."""
    index = ctx.index
    if index.regions.gate_of(statement) is not None:
        return None
    above = index.tree.suite_of(statement)[: index.tree.position_of(statement)]
    names = {node.id for node in ast.walk(read.tensor) if isinstance(node, ast.Name)}
    for item in above:
        call = item.value if isinstance(item, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _KEEPING:
            continue
        for given in call.args:
            if isinstance(given, ast.Name) and given.id not in names and _is_computed(ctx, given):
                return given
    return None


def _is_computed(ctx: FileContext, name: ast.Name) -> bool:
    """Whether a variable holds what a module gave, in one of its methods or as a whole."""
    runs = ctx.index.regions.evaluation.runs
    values = [binding.value for binding in ctx.index.flow.reaching(name) if binding.kind == "assign"]
    return bool(values) and all(
        isinstance(value, ast.Call) and (runs.is_run(value) or runs.computes(value)) for value in values
    )
