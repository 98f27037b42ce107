"""A Python number that another turn has another value of, as a size, a shift or an exponent on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding

_SIZED = {
    "arange": (0, 1, 2), "zeros": (0, 1, 2, 3), "ones": (0, 1, 2, 3), "empty": (0, 1, 2, 3), "rand": (0, 1, 2, 3),
    "randn": (0, 1, 2, 3), "eye": (0, 1), "full": (0,), "linspace": (2,), "randint": (2,), "randperm": (0,),
}  # fmt: skip
"""``torch.<name>``, and the arguments that are sizes."""
_FUNCTIONS = {
    "torch.roll": (1,), "torch.narrow": (2, 3), "torch.tril": (1,), "torch.triu": (1,), "torch.topk": (1,),
    "torch.pow": (1,), "torch.split": (1,), "torch.chunk": (1,),
    "torch.nn.functional.interpolate": (1, 2), "torch.nn.functional.pad": (1,),
    "torch.nn.functional.adaptive_avg_pool2d": (1,),
}  # fmt: skip
_METHODS = {
    "roll": (0,), "narrow": (1, 2), "tril": (0,), "triu": (0,), "topk": (0,), "pow": (0,), "repeat": (0, 1, 2, 3),
    "expand": (0, 1, 2, 3), "split": (0,), "chunk": (0,), "select": (1,), "new_zeros": (0, 1, 2), "new_ones": (0, 1, 2),
}  # fmt: skip
_KEYWORDS = frozenset({
    "size", "scale_factor", "pad", "shifts", "k", "diagonal", "exponent", "end", "steps", "length", "start", "index",
    "output_size", "split_size",
})  # fmt: skip


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.loops:
        return
    nodes: list[ast.Call | ast.BinOp] = [*index.turn_code.nodes(ast.Call), *index.turn_code.nodes(ast.BinOp)]
    for node in nodes:
        numbers = _numbers(ctx, node)
        causes = [cause for number in numbers if (cause := index.changing_numbers.cause(number)) is not None]
        turn = index.turn_code.turn_of(node) if causes else None
        if turn is None or not index.is_device_tensor(node):
            continue
        yield ctx.finding(
            node,
            f"`{ctx.text(node)}` depends on Python's `{ctx.text(causes[0])}`, which changes in every {turn}: "
            "each value is another graph to compile",
            certainty=Certainty.CERTAIN if index.value(node).certain else Certainty.LIKELY,
            related=((index.span(causes[0]), "changes here"),),
        )


def _numbers(ctx: FileContext, node: ast.Call | ast.BinOp) -> list[ast.expr]:
    """The Python numbers that an operation makes constants of its graph."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right] if isinstance(node.op, ast.Pow) else []
    name = ctx.index.qualified_name(node.func)
    if name is not None:
        places = _SIZED.get(name[6:], ()) if name.startswith("torch.") and name.count(".") == 1 else ()
        places = places or _FUNCTIONS.get(name, ())
    elif isinstance(node.func, ast.Attribute):
        places = _METHODS.get(node.func.attr, ())
        if places and not ctx.index.is_device_tensor(node.func.value):
            return []
    else:
        return []
    if not places:
        return []
    found = [node.args[at] for at in places if at < len(node.args)]
    found.extend(keyword.value for keyword in node.keywords if keyword.arg in _KEYWORDS)
    return [part for item in found for part in (item.elts if isinstance(item, ast.List | ast.Tuple) else [item])]
