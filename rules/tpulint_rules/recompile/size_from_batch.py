"""A length or place on the device that is taken from each batch, such as the longest length in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import Side


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
        if measure is None or turn is None or not index.is_device_tensor(tensor) or _is_moved_elsewhere(ctx, tensor):
            continue
        yield ctx.finding(
            node,
            f"`{ctx.text(node)}` is as long as `{ctx.text(measure)}` says, which is another number in every {turn}: "
            "each is another graph to compile",
            certainty=Certainty.CERTAIN if index.value(tensor).certain else Certainty.LIKELY,
            related=((index.span(measure), "taken from the batch here"),),
        )


def _is_moved_elsewhere(ctx: FileContext, tensor: ast.expr) -> bool:
    """Whether only the other branch of a condition moves a variable: ``if cuda: x = x.cuda()``, ``else: x[:, :n]``."""
    index = ctx.index
    bindings = index.flow.reaching(tensor) if isinstance(tensor, ast.Name) else ()
    moved = [binding for binding in bindings if index.kinds.binding_value(binding).side is Side.DEVICE]
    return bool(moved) and all(_are_apart(ctx, binding.statement, tensor) for binding in moved)


def _are_apart(ctx: FileContext, one: ast.AST, other: ast.AST) -> bool:
    tree = ctx.index.tree
    branch = next(
        (item for item in tree.ancestors(one) if isinstance(item, ast.If) and tree.encloses(item, other)), None
    )
    if branch is None:
        return False
    sides = [tree.child_towards(branch, item) or item for item in (one, other)]
    return branch.test not in sides and (sides[0] in branch.body) is not (sides[1] in branch.body)


def _bounds(node: ast.Subscript) -> list[ast.expr]:
    """The ends of the slices of a subscript."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [part for item in items if isinstance(item, ast.Slice) for part in (item.lower, item.upper) if part]
