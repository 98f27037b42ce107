"""``xm.save`` under a condition on the rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope

_SAVE = "torch_xla.core.xla_model.save"


_COLLECTIVES = r"optimizer_step|reduce_gradients|all_reduce|DistributedDataParallel"


def check(ctx: FileContext) -> Iterator[Finding]:
    if not _leaves_collectives_pending(ctx):
        return
    told: list[ast.If] = []
    for call in ctx.index.calls_to(_SAVE):
        condition = ctx.index.ranks.condition_of(call)
        if condition is None or condition in told or _asks_for_other_ranks(call):
            continue
        told.append(condition)
        message = (
            "`xm.save` writes on the first process alone without this condition; under it, the others do not take part "
            "in what is pending"
        )
        yield ctx.finding(call, message, _fix(ctx, condition))


def _leaves_collectives_pending(ctx: FileContext) -> bool:
    """Whether some training step averages gradients and does not end."""
    return ctx.index.mentions(_COLLECTIVES) and any(not loop.boundaries for loop in ctx.index.step_loops)


def _asks_for_other_ranks(call: ast.Call) -> bool:
    """Whether the call says itself which processes write: ``xm.save(x, path, master_only=False)``."""
    return len(call.args) > 2 or any(keyword.arg in ("master_only", "global_master") for keyword in call.keywords)


def _fix(ctx: FileContext, condition: ast.If) -> FixBuilder | None:
    if condition.orelse or not all(_is_save(ctx, statement) for statement in condition.body):
        return None
    reason = "Every process now joins the step that is pending; the first one writes, as before."
    fix = ctx.fix("Save without the condition", Applicability.UNSAFE, reason, Scope.STATEMENT)
    fix.fold({condition.test: True}).write()
    return fix


def _is_save(ctx: FileContext, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return ctx.index.qualified_name(statement.value.func) == _SAVE
