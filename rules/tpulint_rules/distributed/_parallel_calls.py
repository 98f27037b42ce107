"""``data_parallel(model, x)``, which runs a model once on all GPUs and raises where there are none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Severity
from tpulint.semantic import Kind

_NAMES = ("torch.nn.parallel.data_parallel", "torch.nn.parallel.data_parallel.data_parallel")
_SEVERAL = r"(?i)cuda|parallel|multi|[<>]|\blen\("
"""How conditions ask whether a batch is to be shared out: ``ngpu > 1``, ``x.is_cuda``, ``args.multi_gpu``."""
_MESSAGE = "`data_parallel` finds no GPUs to share a batch out to on a TPU machine, and raises"
_REASON = "One chip runs the whole batch."


def parallel_calls(ctx: FileContext) -> Iterator[Finding]:
    """Calls of the function, but where a condition asks for several GPUs."""
    for call in ctx.index.calls_to(*_NAMES):
        if not (ctx.portable or ctx.index.devices.is_guarded(call) or _is_for_several(ctx, call)):
            yield ctx.finding(call.func, _MESSAGE, _fix(ctx, call), severity=Severity.ERROR)


def _is_for_several(ctx: FileContext, call: ast.Call) -> bool:
    tests = (item.test for item in ctx.index.tree.ancestors(call) if isinstance(item, ast.If | ast.IfExp))
    return any(re.search(_SEVERAL, ctx.text(test)) for test in tests)


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``model(x)``, with the tensors of the host moved as they were: where it is seen what the model is given."""
    index = ctx.index
    if len(call.args) < 2 or any(isinstance(item, ast.Starred) for item in call.args) or len(call.args) > 4:
        return None
    model, given = call.args[:2]
    inputs = given.elts if isinstance(given, ast.Tuple) else [given]
    is_named = isinstance(model, ast.Name | ast.Attribute | ast.Subscript)
    others = {keyword.arg for keyword in call.keywords} - {"device_ids", "output_device", "dim"}
    if not is_named or others or "#" in ctx.text(call) or any(index.kind(item) is not Kind.TENSOR for item in inputs):
        return None
    fix = ctx.fix("Call the model itself", Applicability.UNSAFE, _REASON)
    moved = [
        fix.text(item) if index.is_device_tensor(item) else f"{_atom(ctx, item)}.to({fix.device(call)})"
        for item in inputs
    ]
    fix.replace(call, f"{ctx.text(model)}({', '.join(moved)})")
    return fix


def _atom(ctx: FileContext, node: ast.expr) -> str:
    is_atom = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return ctx.text(node) if is_atom else f"({ctx.text(node)})"
