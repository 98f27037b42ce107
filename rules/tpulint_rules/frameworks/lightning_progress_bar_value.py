"""A value that Lightning's progress bar shows, and reads for that."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Severity
from tpulint.semantic import Kind

_MESSAGE = (
    "the progress bar shows this value: it is read from the device in every step, and the host waits for the step"
)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    steps = [hook.function for hook in index.kinds.hooks.all if hook.function.name == "training_step"]
    if not steps or index.mentions(r"enable_progress_bar\s*=\s*False|refresh_rate"):
        return
    for function in steps:
        for node in index.tree.inside(function, functions=False):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr not in ("log", "log_dict") or ctx.text(node.func.value) != "self":
                continue
            shown = next((item for item in node.keywords if item.arg == "prog_bar"), None)
            if shown is None or not isinstance(shown.value, ast.Constant) or shown.value.value is not True:
                continue
            if not _is_of_device(ctx, node):
                continue
            fix = ctx.fix("Leave it out of the progress bar", Applicability.UNSAFE, "The bar no longer shows it.")
            fix.delete_argument(node, shown)
            yield ctx.finding(shown, _MESSAGE, fix, severity=Severity.INFO)


def _is_of_device(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a value that is logged is a tensor on the device."""
    values = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "value")]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "log_dict" and call.args:
        values = list(call.args[0].values) if isinstance(call.args[0], ast.Dict) else []
    return any(ctx.index.kind(value) is Kind.TENSOR for value in values)
