"""What touches the device in a process that joins others: only once the process knows which chip is its own."""

from __future__ import annotations

import ast

from tpulint.semantic import LOOPS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FileContext, FixBuilder


def join_behind(ctx: FileContext, call: ast.Call) -> ast.Call | None:
    """The ``init_process_group(...)`` that a call runs before; None when there is none."""
    if ctx.index.launches:
        return None  # what launch starts knows its chip from the start
    joins = (join.call for join in ctx.index.process_groups.joins)
    return next((join for join in joins if call in ctx.index.launches.before(join)), None)


def write_behind(ctx: FileContext, fix: FixBuilder, statement: ast.stmt, join: ast.Call, text: str) -> bool:
    """Write what touches the device behind the statement that joins, under the condition that a statement stands under.

    False where that would be behind the training, or where it is not clear what comes when: nothing is written.
    """
    tree = ctx.index.tree
    joining = _joining(ctx, statement, join)
    if joining is None:
        body = (ctx.index.function_of(statement) or tree.module).body
        guard = tree.parent(statement)
        if not isinstance(guard, ast.If) or guard not in body or statement not in guard.body:
            return False
        text = f"if {ctx.text(guard.test)}:\n    {text}"
        joining = _joining(ctx, guard, join)
    if joining is None or isinstance(joining, ast.Return | ast.With | ast.Try):
        return False
    fix.insert_after(joining, text)
    return True


def _joining(ctx: FileContext, statement: ast.stmt, join: ast.Call) -> ast.stmt | None:
    """The statement behind this one, in its block, that joins."""
    suite = ctx.index.tree.suite_of(statement)
    return next((item for item in suite[suite.index(statement) + 1 :] if _joins(ctx, item, join)), None)


def _joins(ctx: FileContext, statement: ast.stmt, join: ast.Call) -> bool:
    """Whether a statement holds the call, or calls a short function of the file that does."""
    if ctx.index.tree.encloses(statement, join):
        return True
    callee: FunctionNode | None = ctx.index.function_of(join)
    if callee is None or any(isinstance(node, LOOPS) for node in ctx.index.tree.inside(callee)):
        return False
    return any(ctx.index.tree.encloses(statement, call) for call in ctx.index.definitions.calls_of(callee))
