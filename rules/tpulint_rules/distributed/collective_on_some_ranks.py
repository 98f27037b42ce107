"""Collectives that only some of the processes reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding

_XM = "torch_xla.core.xla_model."
_NAMES = (
    "all_reduce", "all_gather", "all_to_all", "reduce_scatter", "collective_permute", "collective_broadcast",
    "mesh_reduce", "rendezvous", "xla_rendezvous", "optimizer_step", "reduce_gradients", "broadcast_master_param",
    "do_on_ordinals",
)  # fmt: skip


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call in index.calls_to(*(_XM + name for name in _NAMES)):
        condition = index.ranks.condition_of(call)
        if condition is None or _meets_elsewhere(ctx, call, condition):
            continue
        name = (index.qualified_name(call.func) or "").removeprefix(_XM)
        message = f"`xm.{name}` needs every process, and this condition holds on some only: the others wait forever"
        related = ((index.span(condition.test), "depends on the rank"),)
        yield ctx.finding(call, message, related=related)


def _meets_elsewhere(ctx: FileContext, call: ast.Call, condition: ast.If) -> bool:
    """Whether the other processes get to the same collective at another place.

    Such as in the other branch, or in the second of two conditions that let one process go ahead.
    """
    name = ctx.index.qualified_name(call.func)
    function = ctx.index.function_of(call)
    for other in ctx.index.calls_to(name or ""):
        if other is call or ctx.index.function_of(other) is not function:
            continue
        guard = ctx.index.ranks.condition_of(other)
        if guard is not None and (guard is not condition or _in_body(ctx, guard, call) != _in_body(ctx, guard, other)):
            return True
    return False


def _in_body(ctx: FileContext, condition: ast.If, node: ast.AST) -> bool:
    return any(ctx.index.tree.encloses(statement, node) for statement in condition.body)
