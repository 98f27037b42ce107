"""Optimizers whose update is decided on the host."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding

_READING = ("torch.optim.Adafactor", "torch.optim.ASGD", "torch.optim.LBFGS", "torch.optim.Rprop")
_COMPILING = ("torch.optim.LBFGS", "torch.optim.Rprop")


def check(ctx: FileContext) -> Iterator[Finding]:
    """Optimizers that are made in a file that has to do with a device."""
    if not ctx.index.kinds.mentions_device:
        return
    for call in ctx.index.calls_to(*_READING):
        name = ctx.index.qualified_name(call.func) or ""
        anew = ", and compiles new graphs" if name in _COMPILING else ""
        yield ctx.finding(call, f"`{ctx.text(call.func)}` reads from the device in every step{anew}")
