"""A Python number that another turn has another value of, as a size, a place or a shift on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding

_SAME = "The same whole numbers, in the same order."
_OF_SIZES_ONLY = frozenset(f"torch.{name}" for name in ("rand", "randn", "zeros", "ones", "empty"))
_FREE = (ast.Assign, ast.AnnAssign, ast.Return, ast.Call, ast.keyword, ast.Tuple, ast.List)
"""What an expression may stand in without parentheses of its own."""


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    for call in index.turn_code.nodes(ast.Call):
        sizes = index.graph_numbers.sizes(call)
        cause = next((found for size in sizes if (found := index.changing_numbers.cause(size)) is not None), None)
        turn = index.turn_code.turn_of(call) if cause is not None else None
        if cause is None or turn is None or not (index.is_device_tensor(call) or _is_moved(ctx, call)):
            continue
        yield ctx.finding(
            call,
            f"`{ctx.text(call)}` has a size or place from Python's `{ctx.text(cause)}`, which changes in every {turn}: "
            "each value is another graph to compile",
            _fix(ctx, call),
            certainty=Certainty.CERTAIN if index.value(call).certain else Certainty.LIKELY,
            related=((index.span(cause), "changes here"),),
        )


def _is_moved(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a tensor made on the host, all of whose numbers are sizes, goes to the device at once."""
    if ctx.index.qualified_name(call.func) not in _OF_SIZES_ONLY:
        return False
    whole: ast.expr = call
    while isinstance(attribute := ctx.index.parent(whole), ast.Attribute):
        outer = ctx.index.parent(attribute)
        if not isinstance(outer, ast.Call) or outer.func is not attribute:
            return False
        whole = outer
        if ctx.index.is_device_tensor(whole):
            return True
    return False


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``torch.arange(n) + at`` for ``torch.arange(at, at + n)``: the place becomes an input of the graph."""
    index = ctx.index
    if index.qualified_name(call.func) != "torch.arange" or len(call.args) != 2:
        return None
    if any(k.arg not in ("device", "dtype") for k in call.keywords):
        return None
    kind = next((index.qualified_name(k.value) for k in call.keywords if k.arg == "dtype"), "torch.long")
    start, end = call.args
    if kind not in ("torch.long", "torch.int64", "torch.int32", "torch.int") or _may_be_fraction(start):
        return None
    if not isinstance(end, ast.BinOp) or not isinstance(end.op, ast.Add):
        return None
    sides = [(end.left, end.right), (end.right, end.left)]
    length = next((other for side, other in sides if ast.dump(side) == ast.dump(start)), None)
    if length is None or index.changing_numbers.cause(length) is not None:
        return None
    certain = index.value(call).certain
    fix = ctx.fix(
        "Add the place to what counts from zero", Applicability.SAFE if certain else Applicability.UNSAFE, _SAME
    )
    text = index.text(call)
    begin = index.tree.start(call)
    rest = text[index.tree.end(end) - begin :]
    new = f"{text[: index.tree.start(start) - begin]}{ctx.text(length)}{rest} + {fix.text(start)}"
    fix.replace(call, new if isinstance(index.parent(call), _FREE) else f"({new})")
    return fix


def _may_be_fraction(node: ast.expr) -> bool:
    """Whether an expression holds what makes whole numbers fractions."""
    return any(
        isinstance(part, ast.Div) or (isinstance(part, ast.Constant) and isinstance(part.value, float))
        for part in ast.walk(node)
    )
