"""ParallelLoader taken for a loader."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding

_PARALLEL_LOADER = "torch_xla.distributed.parallel_loader.ParallelLoader"
_ITERATE = frozenset({"builtins.enumerate", "builtins.iter", "builtins.zip", "builtins.len", "tqdm.tqdm"})


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(_PARALLEL_LOADER):
        use = next((use for use in _uses(ctx, call) if _is_iterated(ctx, use)), None)
        if use is not None:
            message = "`ParallelLoader` cannot be iterated: TypeError; `MpDeviceLoader(loader, device)` can"
            yield ctx.finding(call, message, _fix(ctx, call))


def _uses(ctx: FileContext, call: ast.Call) -> list[ast.expr]:
    statement = ctx.index.statement_of(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    if not isinstance(target, ast.Name):
        return [call]
    loads = ctx.index.names.loads(target.id, ctx.index.names.scope_of(target))
    reaching = [load for load in loads if [b.value for b in ctx.index.flow.reaching(load)] == [call]]
    if any(isinstance(ctx.index.parent(load), ast.Attribute) for load in loads):
        return []  # such as .per_device_loader(device)
    return list(reaching)


def _is_iterated(ctx: FileContext, use: ast.expr) -> bool:
    parent = ctx.index.parent(use)
    if isinstance(parent, ast.For | ast.comprehension):
        return parent.iter is use
    return isinstance(parent, ast.Call) and ctx.index.qualified_name(parent.func) in _ITERATE


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    if len(call.args) != 2 or not isinstance(call.args[1], ast.List) or len(call.args[1].elts) != 1:
        return None
    fix = ctx.fix("Use `MpDeviceLoader`", Applicability.SAFE, "It is the loader of one device that can be iterated.")
    name = fix.use("torch_xla.distributed.parallel_loader", alias="pl", at=call)
    fix.rename_callee(call, f"{name}.MpDeviceLoader")
    fix.replace(call.args[1], ctx.text(call.args[1].elts[0]))
    return fix
