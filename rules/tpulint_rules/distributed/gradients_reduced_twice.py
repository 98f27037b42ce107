"""Gradients averaged by hand and once more by ``xm.optimizer_step``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope

_XM = "torch_xla.core.xla_model."


def check(ctx: FileContext) -> Iterator[Finding]:
    tree = ctx.index.tree
    reductions = list(ctx.index.calls_to(_XM + "reduce_gradients"))
    for step in ctx.index.calls_to(_XM + "optimizer_step") if reductions else ():
        statement = tree.statement_of(step)
        for reduction in reductions:
            earlier = tree.statement_of(reduction)
            if not _of_same_optimizer(step, reduction):
                continue
            suite = tree.suite_of(statement)
            if any(item is earlier for item in suite) and suite.index(earlier) < suite.index(statement):
                message = "the gradients are averaged already: `xm.optimizer_step` sends them around a second time"
                related = ((ctx.index.span(reduction), "averaged here"),)
                yield ctx.finding(step, message, _fix(ctx, step), related=related)
                break


def _of_same_optimizer(step: ast.Call, reduction: ast.Call) -> bool:
    return bool(step.args and reduction.args) and ast.dump(step.args[0]) == ast.dump(reduction.args[0])


def _fix(ctx: FileContext, step: ast.Call) -> FixBuilder | None:
    statement = ctx.index.statement_of(step)
    barrier = next((item for item in step.keywords if item.arg == "barrier"), None)
    if len(step.args) != 1 or any(item is not barrier for item in step.keywords):
        return None
    if barrier is not None and not isinstance(barrier.value, ast.Constant):
        return None
    if not isinstance(statement, ast.Expr) or statement.value is not step:
        return None
    reason = "An average of equal numbers is the same number."
    fix = ctx.fix("Update only", Applicability.SAFE, reason, Scope.STATEMENT)
    fix.replace(step, f"{fix.text(step.args[0])}.step()")
    if barrier is not None and isinstance(barrier.value, ast.Constant) and barrier.value.value:
        fix.insert_after(statement, f"{fix.use('torch_xla', at=step)}.sync()")
    return fix
