"""A fused optimizer refuses parameters on an XLA device."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind
from tpulint.semantic.values import is_true


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls:
        item = next((keyword for keyword in call.keywords if keyword.arg == "fused"), None)
        if item is None or not is_true(item.value):
            continue
        if ctx.index.kind(call) is not Kind.OPTIMIZER or not ctx.index.kinds.mentions_device:
            continue
        fix = ctx.fix(
            "Remove `fused=True`", Applicability.SAFE, "It chooses between implementations of the same update."
        )
        fix.emit.leave_to_cuda(call, item)
        yield ctx.finding(
            item, "`fused=True` raises for parameters on an XLA device; the whole step is fused there anyway", fix
        )
