"""Anomaly detection reads every gradient in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic.values.value import is_true

_NAMES = ("torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly")


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*_NAMES):
        name = ctx.index.qualified_name(call.func)
        mode = next((item.value for item in call.keywords if item.arg == "mode"), call.args[0] if call.args else None)
        if name == _NAMES[0] and not is_true(mode):
            continue  # behind a flag, or switched off
        if any(isinstance(ancestor, ast.If) for ancestor in ctx.index.tree.ancestors(call)):
            continue
        message = f"`{name}` reads every gradient back to look for NaN: one graph and one transfer for each"
        statement = ctx.index.parent(call)
        fix = None
        if isinstance(statement, ast.Expr):
            fix = ctx.fix(
                "Switch it off", Applicability.UNSAFE, "NaN in gradients is no longer reported.", Scope.STATEMENT
            )
            fix.delete(statement)
        yield ctx.finding(call, message, fix, help="Put it behind a flag for debugging")
