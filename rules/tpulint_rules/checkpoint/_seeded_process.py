"""Seeding in a process that joins others: the device is touched once the process knows which chip is its own."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic import LOOPS, FunctionNode


def join_behind(ctx: FileContext, call: ast.Call) -> ast.Call | None:
    """The ``init_process_group(...)`` that a call runs before; None when there is none."""
    if ctx.index.launches:
        return None  # what launch starts knows its chip from the start
    joins = (join.call for join in ctx.index.process_groups.joins)
    return next((join for join in joins if call in ctx.index.launches.before(join)), None)


def seed_behind(ctx: FileContext, fix: FixBuilder, statement: ast.stmt, join: ast.Call, seeding: str) -> None:
    """Write the seeding of the device behind the statement that joins, under the condition that the seed stands under.

    The fix is given up where that would be behind the training, or where it is not clear what comes when.
    """
    tree = ctx.index.tree
    function = ctx.index.function_of(statement)
    body = (function or tree.module).body
    if statement not in body:
        guard = tree.parent(statement)
        if not isinstance(guard, ast.If) or guard not in body or statement not in guard.body:
            fix.give_up()
            return
        seeding = f"if {ctx.text(guard.test)}:\n    {seeding}"
        statement = guard
    following = body[body.index(statement) + 1 :]
    joining = next((item for item in following if _joins(ctx, item, join)), None)
    if joining is None or isinstance(joining, ast.Return | ast.With | ast.Try):
        fix.give_up()
        return
    fix.insert_after(joining, seeding)


def _joins(ctx: FileContext, statement: ast.stmt, join: ast.Call) -> bool:
    """Whether a statement holds the call, or calls a short function of the file that does."""
    if ctx.index.tree.encloses(statement, join):
        return True
    callee: FunctionNode | None = ctx.index.function_of(join)
    if callee is None or any(isinstance(node, LOOPS) for node in ctx.index.tree.inside(callee)):
        return False
    return any(ctx.index.tree.encloses(statement, call) for call in ctx.index.definitions.calls_of(callee))
