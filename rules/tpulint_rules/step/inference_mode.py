"""``torch.inference_mode`` makes tensors that XLA cannot take views of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.values.value import is_true


def check(ctx: FileContext) -> Iterator[Finding]:
    for node, name in ctx.index.references("torch.inference_mode"):
        if name != "torch.inference_mode" or not ctx.index.moves.concerns(node):
            continue
        call = ctx.index.parent(node)
        message = (
            "`torch.inference_mode` raises on an XLA device as soon as an operation returns a view, as `Linear` does; "
            "use `torch.no_grad`"
        )
        fix = ctx.fix("Replace with `torch.no_grad`", Applicability.SAFE, "No gradients are recorded in either.")
        if isinstance(call, ast.Call) and call.func is node:
            values = values_given(call)
            if any(isinstance(value, ast.Constant) and value.value is False for value in values):
                continue  # the plain mode
            if not all(is_true(value) for value in values):
                fix.give_up()
            fix.delete_arguments(call, [*call.args, *call.keywords])
        fix.replace(node, f"{fix.use('torch', at=node)}.no_grad")
        yield ctx.finding(node, message, fix)
