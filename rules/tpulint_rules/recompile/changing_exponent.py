"""A Python number that another turn has another value of, as the exponent or the base of a power on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Kind

_ROUNDED = "The power is computed in the tensor's own precision, by the general way for whole exponents as well."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    nodes: list[ast.Call | ast.BinOp] = [*index.turn_code.nodes(ast.Call), *index.turn_code.nodes(ast.BinOp)]
    for node in nodes:
        sides = index.graph_numbers.exponents(node)
        changing = [(side, cause) for side in sides if (cause := index.changing_numbers.cause(side)) is not None]
        turn = index.turn_code.turn_of(node) if changing else None
        if turn is None or not index.is_device_tensor(node):
            continue
        number, cause = changing[0]
        yield ctx.finding(
            node,
            f"`{ctx.text(number)}` is another number in every {turn}, and a number in a power is a constant of the "
            "graph: each value is compiled",
            _fix(ctx, node, number) if len(changing) == 1 else None,
            certainty=Certainty.CERTAIN if index.value(node).certain else Certainty.LIKELY,
            related=((index.span(cause), "changes here"),),
        )


def _fix(ctx: FileContext, node: ast.Call | ast.BinOp, number: ast.expr) -> FixBuilder | None:
    """The number as a tensor without dimensions: an input of the graph."""
    index = ctx.index
    if index.kind(number) is Kind.TENSOR:
        return None
    if isinstance(node, ast.BinOp):
        other: ast.expr = node.right if number is node.left else node.left
    elif index.qualified_name(node.func) is None and isinstance(node.func, ast.Attribute):
        other = node.func.value
    else:
        other = next((item for item in node.args[:2] if item is not number), node)
    names = (part for part in (other, *index.tree.inside(other)) if isinstance(part, ast.Name))
    tensor = next((name for name in names if index.is_device_tensor(name)), None)
    if tensor is None:
        return None
    fix = ctx.fix("Give the number as a tensor", Applicability.UNSAFE, _ROUNDED)
    fix.replace(number, f"{fix.use('torch', at=node)}.tensor({ctx.text(number)}, device={tensor.id}.device)")
    return fix
