"""Averages over processes, which the process group of torch_xla does not compute."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding

_COLLECTIVES = ("all_reduce", "reduce", "reduce_scatter", "reduce_scatter_tensor")
_AVERAGE = ("torch.distributed.ReduceOp.AVG", "torch.distributed.distributed_c10d.ReduceOp.AVG")
_REASON = "The sum is divided in place, which a tensor of whole numbers refuses, and one with a gradient may."


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.process_groups.on_device:
        return
    for call in ctx.index.calls_to(*(f"torch.distributed.{name}" for name in _COLLECTIVES)):
        given = [keyword.value for keyword in call.keywords if keyword.arg == "op"] or call.args[1:]
        average = next((item for item in given if ctx.index.qualified_name(item) in _AVERAGE), None)
        if average is not None:
            message = "the process group of torch_xla knows no average: `ValueError: Invalid reduce op`"
            yield ctx.finding(average, message, _divided_sum(ctx, call, average))


def _divided_sum(ctx: FileContext, call: ast.Call, average: ast.expr) -> FixBuilder | None:
    """``dist.all_reduce(x, op=dist.ReduceOp.AVG)`` as a sum, and a division behind it."""
    statement, text = ctx.index.statement_of(call), ctx.text(average)
    is_plain = isinstance(statement, ast.Expr) and statement.value is call and text.endswith(".AVG")
    is_all = (ctx.index.qualified_name(call.func) or "").endswith(".all_reduce")
    reduced = call.args[0] if call.args else None
    others = {keyword.arg for keyword in call.keywords} - {"op"}
    if not is_plain or not is_all or not isinstance(reduced, ast.Name | ast.Attribute) or others or len(call.args) > 2:
        return None
    fix = ctx.fix("Sum, and divide by the number of processes", Applicability.UNSAFE, _REASON)
    fix.replace(average, text.removesuffix("AVG") + "SUM")
    distributed = fix.use("torch.distributed", alias="dist", at=call)
    fix.insert_after(statement, f"{ctx.text(reduced)} /= {distributed}.get_world_size()")
    return fix
