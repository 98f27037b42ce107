"""``xm.mesh_reduce`` of what only NumPy's pickles can hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind

_NUMBERS = frozenset({
    "average", "float16", "float32", "float64", "int32", "int64", "max", "mean", "median", "min", "nanmean", "prod",
    "std", "sum", "var",
})  # fmt: skip
"""Functions and methods that give one number, unless they are told an axis."""


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to("torch_xla.core.xla_model.mesh_reduce"):
        given = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "data")]
        if not given or ctx.index.kind(given[0]) is not Kind.NUMPY:
            continue
        fix = ctx.fix("Send a plain number", Applicability.SAFE, "The call raised before.")
        fix.replace(given[0], f"float({ctx.text(given[0])})")
        if not _is_number(ctx, given[0]):
            fix.give_up()
        yield ctx.finding(given[0], "`mesh_reduce` cannot load what NumPy pickles: it raises", fix)


def _is_number(ctx: FileContext, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return False
    of_numpy = ctx.index.qualified_name(node.func) is not None  # the array is an argument then
    return node.func.attr in _NUMBERS and len(node.args) == of_numpy
