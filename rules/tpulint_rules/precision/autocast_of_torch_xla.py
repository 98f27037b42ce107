"""The autocast class of torch_xla, in place of torch's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding

_AUTOCAST = ("torch_xla.amp.autocast", "torch_xla.amp.autocast_mode.autocast")


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*_AUTOCAST):
        message = (
            '`torch_xla.amp.autocast` raises on every backend but a TPU; `torch.autocast("xla")` is the same there'
        )
        yield ctx.finding(call.func, message, _fix(ctx, call))


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``torch.autocast("xla", dtype=torch.bfloat16)``"""
    device = call.args[0] if call.args else next((item for item in call.keywords if item.arg == "device"), None)
    plain = len(call.args) <= 1 and all(item.arg is not None for item in call.keywords)
    if device is None or isinstance(device, ast.Starred) or not plain:
        return None
    fix = ctx.fix("Use the autocast of torch", Applicability.SAFE, "torch_xla's class calls it with the type `xla`.")
    torch = fix.use("torch", at=call)
    fix.use("torch_xla", at=call)  # which tells torch of the device type
    fix.rename_callee(call, f"{torch}.autocast")
    chosen = any(item.arg == "dtype" for item in call.keywords)
    fix.replace(device, '"xla"' if chosen else f'"xla", dtype={torch}.bfloat16')
    if device not in [*call.args, *call.keywords][:1]:
        fix.give_up()  # what stands in front of it is named
    return fix
