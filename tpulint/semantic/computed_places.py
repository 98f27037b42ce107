"""Indices that are one number on the device, computed in the turn: each value is read, and a graph of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def indices_of(node: ast.Subscript) -> list[ast.expr]:
    """What stands in the brackets, one for each dimension."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def computed_places(index: SemanticIndex) -> Iterator[ast.expr]:
    """All of them in code that runs in turns."""
    for node in index.turn_code.nodes(ast.Subscript) if index.turn_code.exists else ():
        found = [item for item in indices_of(node) if is_computed_place(index, item)]
        yield from found if found and index.is_device_tensor(node.value) else ()


def is_computed_place(index: SemanticIndex, item: ast.expr) -> bool:
    """``scores.argmax()``, an element of a row: of no dimensions, and the same in no two turns."""
    if isinstance(item, ast.Attribute | ast.Slice) or not index.is_device_tensor(item):
        return False
    if index.dimensions.of(item) != 0:
        return False
    bindings = index.flow.reaching(item) if isinstance(item, ast.Name) else ()
    return all(_is_of_turn(index, binding.statement) for binding in bindings)


def _is_of_turn(index: SemanticIndex, statement: ast.AST) -> bool:
    """Whether every turn gives a variable its value: in its code, or as the loop goes on."""
    return statement in index.turn_code.loops or index.turn_code.turn_of(statement) is not None
