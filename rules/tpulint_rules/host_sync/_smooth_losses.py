"""Huber losses, which torch_xla computes on the host, as the smooth losses that are the same on the device."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability

_FUNCTION = "torch.nn.functional.huber_loss"
_LAYER = "torch.nn.HuberLoss"
_SAME = "The same function, computed by another operation: its last digits may differ."


def smooth_loss(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``F.smooth_l1_loss(x, y)`` for ``F.huber_loss(x, y)``, with a ``delta`` times that; likewise for the layer."""
    name = ctx.index.qualified_name(call.func)
    if name == _FUNCTION and len(call.args) == 2:
        return _rewritten(ctx, call, "smooth_l1_loss", may_scale=True)
    if name is not None or not isinstance(call.func, ast.Name | ast.Attribute):
        return None
    made = [creation.node for creation in ctx.index.moves.creations.of(call.func) if not creation.path]
    layer = made[0] if len(made) == 1 else None
    if not isinstance(layer, ast.Call) or ctx.index.qualified_name(layer.func) != _LAYER or layer.args:
        return None
    return _rewritten(ctx, layer, "SmoothL1Loss", may_scale=False)


def _rewritten(ctx: FileContext, call: ast.Call, name: str, may_scale: bool) -> FixBuilder | None:
    given = {item.arg: item.value for item in call.keywords}
    delta = given.get("delta")
    is_one = delta is None or (isinstance(delta, ast.Constant) and delta.value == 1)
    if not given.keys() <= {"reduction", "delta"} or not (is_one or (may_scale and isinstance(delta, ast.Constant))):
        return None
    fix = ctx.fix("Take the smooth loss", Applicability.UNSAFE, _SAME)
    module = "torch.nn.functional" if may_scale else "torch.nn"
    func = call.func
    fix.rename_callee(
        call, f"{ctx.text(func.value)}.{name}" if isinstance(func, ast.Attribute) else fix.use(module, name)
    )
    for keyword in call.keywords:
        if keyword.arg == "delta":
            start = ctx.index.span(keyword).start
            fix.replace(ctx.index.span(keyword)._replace(start=start, end=start + len("delta")), "beta")
    if not is_one and delta is not None:
        parent, span = ctx.index.parent(call), ctx.index.span(call)
        is_loose = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub | ast.Mult)
        is_within = isinstance(parent, ast.expr) and not is_loose and not isinstance(parent, ast.Call)
        fix.insert(span.start, f"{'(' * is_within}{ctx.text(delta)} * ")
        fix.insert(span.end, ")" * is_within)
    return fix
