"""Optimizers whose update is decided on the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding

_READING = ("torch.optim.Adafactor", "torch.optim.ASGD", "torch.optim.LBFGS", "torch.optim.Rprop")
_COMPILING = ("torch.optim.LBFGS", "torch.optim.Rprop")

_SCALING = ("transformers.Adafactor", "transformers.optimization.Adafactor")
"""Reads to scale each update by the size of its parameter, unless that is turned off."""


def check(ctx: FileContext) -> Iterator[Finding]:
    """Optimizers that are made in a file that has to do with a device."""
    if not ctx.index.kinds.mentions_device:
        return
    for call in ctx.index.calls_to(*_READING):
        name = ctx.index.qualified_name(call.func) or ""
        anew = ", and compiles new graphs" if name in _COMPILING else ""
        yield ctx.finding(call, f"`{ctx.text(call.func)}` reads from the device in every step{anew}")
    for call in ctx.index.calls_to(*_SCALING):
        if _scales(call):
            yield ctx.finding(
                call, f"`{ctx.text(call.func)}` reads from the device in every step unless `scale_parameter=False`"
            )


def _scales(call: ast.Call) -> bool:
    """Whether the call certainly leaves the scaling on: True is what it is without the argument."""
    if len(call.args) > 1 or any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    value = given.get("scale_parameter")
    return None not in given and (value is None or (isinstance(value, ast.Constant) and value.value is True))
