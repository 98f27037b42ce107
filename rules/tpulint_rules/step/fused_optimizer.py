"""A fused optimizer refuses parameters on an XLA device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.values.value import is_true

_OF_A_CLASS = (
    "torch.distributed.optim.ZeroRedundancyOptimizer",
    "torch.distributed.optim.zero_redundancy_optimizer.ZeroRedundancyOptimizer",
    "functools.partial",
)
"""Calls that hand the options they are given to an optimizer of a class that they are given, too."""
_OPTIMIZERS = "torch.optim."


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls:
        item = next((keyword for keyword in call.keywords if keyword.arg == "fused"), None)
        if item is None or not is_true(item.value):
            continue
        makes = ctx.index.kind(call) is Kind.OPTIMIZER or _is_for_class(ctx, call)
        if not makes or not ctx.index.kinds.mentions_device:
            continue
        fix = ctx.fix(
            "Remove `fused=True`", Applicability.SAFE, "It chooses between implementations of the same update."
        )
        fix.emit.leave_to_cuda(call, item)
        yield ctx.finding(
            item, "`fused=True` raises for parameters on an XLA device; the whole step is fused there anyway", fix
        )


def _is_for_class(ctx: FileContext, call: ast.Call) -> bool:
    """``ZeroRedundancyOptimizer(parameters, optimizer_class=AdamW, fused=True)``, ``partial(AdamW, fused=True)``"""
    if ctx.index.qualified_name(call.func) not in _OF_A_CLASS:
        return False
    given = values_given(call)
    return any((ctx.index.qualified_name(item) or "").startswith(_OPTIMIZERS) for item in given)
