"""Optimizer updates of launched processes that nobody averages."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope

_XM = "torch_xla.core.xla_model"
# Whatever averages gradients or parameters, in this file or by what it wraps the model in.
_REDUCES = (
    r"optimizer_step|reduce_gradients|all_reduce|DistributedDataParallel|FullyShardedDataParallel|fully_shard"
    r"|ZeroRedundancyOptimizer|mark_sharding|average_gradients|accelerat|hvd|deepspeed|reduce_scatter"
)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not any(launch.starts_processes for launch in index.launches.launches) or index.mentions(_REDUCES):
        return
    for loop in index.step_loops:
        for call in loop.updates:
            launch = index.launches.launch_of(call)
            if launch is None or not launch.starts_processes or not isinstance(call.func, ast.Attribute):
                continue
            value = index.value(call.func.value)
            certainty = Certainty.CERTAIN if value.certain else Certainty.LIKELY
            message = "each process updates with its own gradients: the copies of the model drift apart"
            yield ctx.finding(call, message, _fix(ctx, call), certainty=certainty)


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    if call.args or call.keywords or not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return None
    if ctx.index.imported.called(call) is not None:
        return None  # an object with an optimizer, or one of the project's own optimizers
    reason = "Gradients are averaged over all processes before the update."
    fix = ctx.fix("Average the gradients", Applicability.SAFE, reason, Scope.LOOP)
    xm = fix.use(_XM, alias="xm", at=call)
    fix.replace(call, f"{xm}.optimizer_step({ctx.text(call.func.value)})")
    return fix
