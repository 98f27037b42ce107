"""What makes a batch, or fills up a sample, to a length that it is given."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex
from tpulint.semantic.project.other_files import definition_called, loads_of_parameter

_FILLERS = frozenset({
    *(f"{package}.{name}" for package in ("torch", "numpy") for name in ("zeros", "ones", "full", "empty")),
    "torch.nn.functional.pad", "numpy.pad", "torch.LongTensor", "torch.FloatTensor",
})  # fmt: skip
_FILLING = frozenset({"new_zeros", "new_ones", "new_full", "new_empty", "resize_", "fill_"})
_DEPTH = 2
"""Variables and functions that a length is followed through."""


def filled_by(index: SemanticIndex, node: ast.AST, depth: int = 0) -> ast.AST | None:
    """The call or product around an expression that makes a batch, or fills a sample, of that size.

    Be it through what is missing, ``rest = longest - len(sample)``, or in a function that is given the length.
    """
    child = node
    for ancestor in index.tree.ancestors(node):
        if isinstance(ancestor, ast.stmt):
            return _filled_by_rest(index, ancestor, child, node, depth)
        if is_rounding(ancestor):
            return None
        if isinstance(ancestor, ast.BinOp) and isinstance(ancestor.op, ast.Mult):
            sides = (ancestor.left, ancestor.right)
            if any(isinstance(side, ast.List) and side is not child for side in sides):
                return ancestor
        if isinstance(ancestor, ast.Call):
            name = index.qualified_name(ancestor.func)
            if name in _FILLERS:
                return ancestor
            if isinstance(ancestor.func, ast.Attribute) and name is None and ancestor.func.attr in _FILLING:
                return ancestor
            if name == "builtins.max" and len(ancestor.args) > 1:
                return None  # no less than so much
            if depth < _DEPTH and isinstance(node, ast.expr) and _is_filled_in_function(index, ancestor, node, depth):
                return ancestor
        child = ancestor
    return None


def is_rounding(node: ast.AST | None) -> bool:
    """``length // 64``, ``length % 8``"""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)


def _filled_by_rest(
    index: SemanticIndex, statement: ast.stmt, value: ast.AST, node: ast.AST, depth: int
) -> ast.AST | None:
    """``rest = longest - len(sample)``, where the rest is filled."""
    if depth >= _DEPTH or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    is_rest = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub) and value.left is node
    if not is_rest or not isinstance(target, ast.Name):
        return None
    scope = index.names.scope_of(target)
    if len(index.names.bindings_in(scope, target.id)) != 1:
        return None
    found = (filled_by(index, use, depth + 1) for use in index.names.loads(target.id, scope))
    return next((use for use in found if use is not None), None)


def _is_filled_in_function(index: SemanticIndex, call: ast.Call, given: ast.expr, depth: int) -> bool:
    """``pad(sample, longest)``"""
    called = definition_called(index, call)
    uses = [] if called is None else loads_of_parameter(called, call, given)
    return called is not None and any(filled_by(called.file, use, depth + 1) is not None for use in uses)
