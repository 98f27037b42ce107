"""Sums with scaled products, which torch_xla computes on the host, written as a sum and a product."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability

_ROUNDED = "The product is rounded before it is scaled and added: the last digits may differ."


def add_scaled_product(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``d.addmm_(1, -2, x, y.t())`` as ``d.add_(x @ y.t(), alpha=-2)``; None where the sum is scaled itself."""
    func, arguments = call.func, list(call.args)
    if not isinstance(func, ast.Attribute) or func.attr not in ("addmm", "addmm_"):
        return None
    if any(isinstance(item, ast.Starred) for item in arguments):
        return None
    if ctx.index.qualified_name(func) is not None:
        added, callee = arguments.pop(0), f"{ctx.text(func.value)}.add"
    else:
        added, callee = None, f"{ctx.text(func.value)}.{func.attr.replace('mm', '')}"
    given = {item.arg: item.value for item in call.keywords}
    if len(arguments) == 4 and not given:  # as of old: `addmm_(beta, alpha, x, y)`
        given = {"beta": arguments.pop(0), "alpha": arguments.pop(0)}
    beta, alpha = given.pop("beta", None), given.pop("alpha", None)
    if len(arguments) != 2 or given or alpha is None or (beta is not None and ast.unparse(beta) not in ("1", "1.0")):
        return None
    fix = ctx.fix("Add the scaled product", Applicability.UNSAFE, _ROUNDED)
    product = f"{fix.text(arguments[0])} @ {fix.text(arguments[1])}"
    first = "" if added is None else f"{ctx.text(added)}, "
    fix.replace(call, f"{callee}({first}{product}, alpha={ctx.text(alpha)})")
    return fix
