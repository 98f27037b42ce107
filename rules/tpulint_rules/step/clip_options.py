"""Options of ``clip_grad_norm_`` that raise on an XLA device, or read from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Severity
from tpulint.semantic.values.value import is_true

_POSITIONS = {"error_if_nonfinite": 3, "foreach": 4}


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to("torch.nn.utils.clip_grad_norm_"):
        for name, position in _POSITIONS.items():
            argument = _argument(call, name, position)
            value = argument.value if isinstance(argument, ast.keyword) else argument
            if argument is None or not is_true(value):
                continue
            fix = ctx.fix(
                f"Remove `{name}`", Applicability.SAFE, "It chooses between implementations of the same clipping."
            )
            fix.emit.leave_to_cuda(call, argument)
            if isinstance(argument, ast.expr) and argument is not call.args[-1]:
                fix.give_up()  # the arguments behind it would move forward
            if name == "foreach":
                yield ctx.finding(argument, "`foreach=True` raises for gradients on an XLA device", fix)
                continue
            fix.lower(Applicability.UNSAFE, "A step with infinite gradients then goes on.")
            message = "`error_if_nonfinite=True` reads the norm from the device in every step"
            yield ctx.finding(argument, message, fix, severity=Severity.WARNING)


def _argument(call: ast.Call, name: str, position: int) -> ast.keyword | ast.expr | None:
    for item in call.keywords:
        if item.arg == name:
            return item
    is_seen = len(call.args) > position and not any(isinstance(item, ast.Starred) for item in call.args)
    return call.args[position] if is_seen else None
