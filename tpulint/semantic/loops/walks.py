"""Loops that go along a tensor, place by place: ``for t in range(x.size(1)): ... x[:, t]``."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree

_ORDERS = frozenset({"builtins.reversed", "tqdm.tqdm"})


def goes_along(tree: SyntaxTree, names: Names, loop: LoopNode) -> bool:
    """Whether the turns of a loop are the places of every sample, one after the other, and no batches."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return False
    source = loop.iter
    while isinstance(source, ast.Call) and len(source.args) == 1 and names.qualified(source.func) in _ORDERS:
        source = source.args[0]
    if not isinstance(source, ast.Call) or names.qualified(source.func) != "builtins.range" or len(source.args) != 1:
        return False
    measured = _measured(names, source.args[0])
    return measured is not None and any(
        isinstance(node.slice, ast.Tuple)
        and any(isinstance(place, ast.Name) and place.id == loop.target.id for place in node.slice.elts[1:])
        and ast.unparse(node.value) == measured
        for node in tree.nodes_in(loop, ast.Subscript, functions=False)
    )


def _measured(names: Names, length: ast.expr) -> str | None:
    """Text of the tensor whose length, in another dimension than the first, a number is."""
    path: tuple[int, ...] = ()
    if isinstance(length, ast.Name):
        bindings = names.bindings(length)
        if len(bindings) != 1 or bindings[0].value is None:
            return None
        length, path = bindings[0].value, bindings[0].path
    if isinstance(length, ast.Subscript):  # x.shape[1], x.size()[1]
        place: ast.expr | None = length.slice
        length = length.value
    elif isinstance(length, ast.Call) and len(length.args) == 1:  # x.size(1)
        place, length = length.args[0], length.func
    else:
        place = ast.Constant(path[0]) if len(path) == 1 else None  # rows, columns = x.shape
    if isinstance(length, ast.Call) and not length.args:
        length = length.func
    is_first = not isinstance(place, ast.Constant | ast.UnaryOp) or ast.unparse(place) == "0"
    if is_first or not isinstance(length, ast.Attribute) or length.attr not in ("shape", "size"):
        return None
    return ast.unparse(length.value)
