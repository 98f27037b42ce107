"""How many places a ring has: the divisor in ``bank[step % 1000] = feature``."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_LARGE = 64
"""Places, as many as graphs are compiled for."""
_DEPTH = 4
"""Variables that such a number is looked for behind."""


def is_large(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """Whether a divisor is a number of many, ``step % 1000``, or a variable, or the size of a tensor, that is."""
    if isinstance(node, ast.Name | ast.Attribute) and depth < _DEPTH:
        bindings = index.flow.bindings_of(node)
        one = bindings[0] if len(bindings) == 1 and not bindings[0].path else None
        given: list[ast.expr] = [] if one is None or one.value is None else [one.value]
        if one is not None and one.kind == "parameter" and isinstance(one.statement, FUNCTIONS):
            given += index.definitions.arguments.of(one.statement, one.name)
        elif one is None or one.kind != "assign":
            return False
        return bool(given) and all(is_large(index, item, depth + 1) for item in given)
    sized = _sized(index, node)
    if sized is not None:
        made = index.moves.creations.of(sized)
        sizes = [index.graph_numbers.sizes(item.node) for item in made if isinstance(item.node, ast.Call)]
        known = [size[0] for size in sizes if size]
        return len(known) == len(made) > 0 and all(is_large(index, size, depth + 1) for size in known)
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value >= _LARGE


def _sized(index: SemanticIndex, node: ast.expr) -> ast.expr | None:
    """The tensor whose first size a number is: ``len(bank)``, ``bank.shape[0]``, ``bank.size(0)``."""
    of_first = [item.value == 0 for item in ast.walk(node) if isinstance(item, ast.Constant)]
    if isinstance(node, ast.Call) and index.qualified_name(node.func) == "builtins.len":
        return node.args[0] if len(node.args) == 1 else None
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return node.value.value if of_first == [True] else None
    is_asked = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size"
    return node.func.value if is_asked and of_first == [True] else None  # type: ignore[attr-defined]
