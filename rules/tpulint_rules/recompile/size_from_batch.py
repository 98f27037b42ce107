"""A length or place on the device that is taken from each batch, such as the longest length in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    nodes: list[ast.Subscript | ast.Call] = [*index.turn_code.nodes(ast.Subscript), *index.turn_code.nodes(ast.Call)]
    for node in nodes:
        numbers = _bounds(node) if isinstance(node, ast.Subscript) else index.graph_numbers.sizes(node)
        measure = next((found for number in numbers if (found := index.batch_measures.of(number)) is not None), None)
        turn = index.turn_code.turn_of(node) if measure is not None else None
        tensor = node.value if isinstance(node, ast.Subscript) else node
        if measure is None or turn is None or not index.is_device_tensor(tensor):
            continue
        yield ctx.finding(
            node,
            f"`{ctx.text(node)}` is as long as `{ctx.text(measure)}` says, which is another number in every {turn}: "
            "each is another graph to compile",
            certainty=Certainty.CERTAIN if index.value(tensor).certain else Certainty.LIKELY,
            related=((index.span(measure), "taken from the batch here"),),
        )


def _bounds(node: ast.Subscript) -> list[ast.expr]:
    """The ends of the slices of a subscript."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [part for item in items if isinstance(item, ast.Slice) for part in (item.lower, item.upper) if part]
