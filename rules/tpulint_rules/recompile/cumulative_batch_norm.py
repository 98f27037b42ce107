"""Batch normalization that averages over all batches: its momentum is a number read from the device in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding

_LAYERS = tuple(f"torch.nn.{name}" for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"))
_MOMENTUM_AT = 2


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.kinds.mentions_device and index.is_program:
        return
    for call in index.calls_to(*_LAYERS):
        given = [*call.args[_MOMENTUM_AT : _MOMENTUM_AT + 1], *(k.value for k in call.keywords if k.arg == "momentum")]
        if any(isinstance(value, ast.Constant) and value.value is None for value in given):
            yield ctx.finding(
                call,
                "without a momentum, each training step reads the number of batches from the device, "
                "and 1 divided by it becomes a constant of the graph: every step is compiled",
            )
    for call in index.calls_to("torch.optim.swa_utils.update_bn"):
        yield ctx.finding(
            call,
            "`update_bn` sets the momentum of batch normalization to None: "
            "each batch reads its number from the device, and is compiled",
        )
