"""Comparisons that Python makes between values of the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding

_EXTREMES = {"builtins.max": "maximum", "builtins.min": "minimum"}
_BY_HALVES = "Where both are equal the gradient goes to both, and a NaN on either side wins."
_ON_DEVICE = "The result has the dtype of its parts."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.loops:
        return
    for call in index.turn_code.nodes(ast.Call):
        name = index.qualified_name(call.func)
        if name not in (*_EXTREMES, "builtins.sorted", "torch.tensor") or not call.args:
            continue
        tensors = [item for item in _compared(call, name) if index.is_device_tensor(item)]
        turn = index.turn_code.turn_of(call) if tensors else None
        if turn is None:
            continue
        short = name.rpartition(".")[2]
        does = "reads each of its parts from" if short == "tensor" else "compares on the host what is on"
        yield ctx.finding(
            call,
            f"`{short}` {does} the device, in every {turn}",
            _fix(ctx, call, name, tensors),
            certainty=Certainty.CERTAIN if all(index.value(item).certain for item in tensors) else Certainty.LIKELY,
        )


def _compared(call: ast.Call, name: str) -> list[ast.expr]:
    """What a call looks at one by one."""
    first = call.args[0]
    if name in _EXTREMES and len(call.args) > 1:
        return call.args
    return first.elts if isinstance(first, ast.List | ast.Tuple) else []


def _fix(ctx: FileContext, call: ast.Call, name: str, tensors: list[ast.expr]) -> FixBuilder | None:
    if not all(ctx.index.scalars.is_scalar(item) for item in tensors):
        return None
    if name in _EXTREMES and len(call.args) == 2 and len(tensors) == 2 and not call.keywords:
        fix = ctx.fix("Compare on the device", Applicability.UNSAFE, _BY_HALVES)
        fix.rename_callee(call, f"{fix.use('torch', at=call)}.{_EXTREMES[name]}")
        return fix
    values = call.args[0]
    if name != "torch.tensor" or not isinstance(values, ast.List | ast.Tuple) or len(tensors) != len(values.elts):
        return None
    if [item.arg for item in call.keywords] != ["device"] or len(call.args) != 1:
        return None
    fix = ctx.fix("Stack on the device", Applicability.UNSAFE, _ON_DEVICE)
    fix.replace(call, f"{fix.use('torch', at=call)}.stack({ctx.text(values)}).detach()")
    return fix
