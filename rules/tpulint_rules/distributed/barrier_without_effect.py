"""``dist.barrier()``, for which the backend ``xla`` does nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Severity
from tpulint.semantic import Pace


def check(ctx: FileContext) -> Iterator[Finding]:
    barriers = list(ctx.index.calls_to("torch.distributed.barrier"))
    if not barriers or not ctx.index.process_groups.on_device:
        return
    for call in barriers:
        if any(keyword.arg == "group" for keyword in call.keywords) or call.args:
            continue
        if _has_way_for_xla(ctx, call):
            continue
        per_step = ctx.index.pace_of(call) in (Pace.STEP, Pace.EVALUATION)
        message = "`barrier` does nothing with the backend `xla`: no process waits for another"
        yield ctx.finding(call, message, None if per_step else _fix(ctx, call), severity=Severity.WARNING)


def _has_way_for_xla(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the processes of XLA wait in another branch: ``elif kind == Kind.XLA: xm.rendezvous(...)``."""
    child: ast.AST = call
    for ancestor in ctx.index.tree.ancestors(call):
        others = ancestor.orelse if isinstance(ancestor, ast.If) and child in ancestor.body else []
        if any("rendezvous" in ctx.text(item) for item in others):
            return True
        child = ancestor
    return False


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    statement = ctx.index.statement_of(call)
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        return None
    reason = "A rendezvous runs a small program on the device and reads its result: processes wait, and it costs more."
    fix = ctx.fix("Wait with `xm.rendezvous`", Applicability.UNSAFE, reason)
    fix.replace(call, f'{fix.use("torch_xla.core.xla_model", alias="xm", at=call)}.rendezvous("barrier")')
    return fix
