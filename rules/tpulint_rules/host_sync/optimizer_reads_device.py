"""Optimizers whose update is decided on the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic.devices.default_device import is_default
from tpulint.semantic.values.value import is_true

_READING = ("torch.optim.Adafactor", "torch.optim.ASGD", "torch.optim.LBFGS", "torch.optim.Rprop")
_COMPILING = ("torch.optim.LBFGS", "torch.optim.Rprop")

_SCALING = ("transformers.Adafactor", "transformers.optimization.Adafactor")
"""Reads to scale each update by the size of its parameter, unless that is turned off."""

_COUNTING = tuple(f"torch.optim.{name}" for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax"))
"""They count their steps in a tensor without a device, and read it."""
_REASON = "The steps are counted, and the update corrected by them, on the device, in float32."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Optimizers that are made in a file that has to do with a device."""
    if not ctx.index.kinds.mentions_device:
        return
    for call in ctx.index.calls_to(*_READING):
        name = ctx.index.qualified_name(call.func) or ""
        anew = ", and compiles new graphs" if name in _COMPILING else ""
        yield ctx.finding(call, f"`{ctx.text(call.func)}` reads from the device in every step{anew}")
    yield from _counting(ctx)
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
    return None not in given and (value is None or is_true(value))


def _counting(ctx: FileContext) -> Iterator[Finding]:
    """Optimizers whose counts of steps lie on the device, as it is the default one."""
    calls = [call for call in ctx.index.calls_to(*_COUNTING) if not _may_be_told(call)]
    for call in calls if calls and is_default(ctx.index) else ():
        fix = ctx.fix("Count the steps on the device", Applicability.UNSAFE, _REASON, Scope.EXPRESSION)
        fix.set_argument(call, "capturable", "True")
        name = ctx.text(call.func)
        message = f"`{name}` reads a count in every step for each parameter, which is made on the default device"
        yield ctx.finding(call, message, fix)


def _may_be_told(call: ast.Call) -> bool:
    """Whether the call says who counts, or may say so."""
    return any(keyword.arg in (None, "capturable", "fused") for keyword in call.keywords)
