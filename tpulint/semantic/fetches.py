"""Values that are fetched behind a step boundary already: ``loss_value, norm_value = values.tolist()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class Fetch(NamedTuple):
    """One transfer of several numbers, stacked in front of the boundary."""

    statement: ast.Assign
    """``a_value, b_value = values.tolist()``"""
    stack: ast.Tuple | ast.List
    """The tensors, as given to ``torch.stack``."""
    values: dict[str, str]
    """The variable that holds the number, by the dump of the tensor."""


class Fetches:
    """Recognises them."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def behind(self, boundary: ast.Expr) -> Fetch | None:
        """The fetch right behind a boundary of what is stacked right in front of it."""
        suite = self._index.tree.suite_of(boundary)
        at = suite.index(boundary)
        if at == 0 or at + 1 == len(suite):
            return None
        stacked, statement = suite[at - 1], suite[at + 1]
        if not isinstance(stacked, ast.Assign) or not isinstance(statement, ast.Assign):
            return None
        source, targets = stacked.targets[0], statement.targets[0]
        call = statement.value
        if not isinstance(source, ast.Name) or not isinstance(targets, ast.Tuple) or not isinstance(call, ast.Call):
            return None
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "tolist" or not isinstance(func.value, ast.Name):
            return None
        stack = self._stack(stacked.value)
        names = [item.id for item in targets.elts if isinstance(item, ast.Name)]
        if func.value.id != source.id or stack is None or not len(names) == len(stack.elts) == len(targets.elts):
            return None
        return Fetch(statement, stack, dict(zip(map(_dump, stack.elts), names, strict=True)))

    def _stack(self, node: ast.expr) -> ast.Tuple | ast.List | None:
        """The tensors in ``torch.stack((a, b)).detach()``."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if self._index.qualified_name(node.func) == "torch.stack":
                items = node.args[0] if len(node.args) == 1 and not node.keywords else None
                return items if isinstance(items, ast.Tuple | ast.List) else None
            if node.func.attr != "detach":
                return None
            node = node.func.value
        return None


def _dump(node: ast.expr) -> str:
    """The dump of a tensor, without the ``reshape(())`` that makes a number of it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
        return ast.dump(node.func.value)
    return ast.dump(node)
