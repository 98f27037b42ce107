"""Parameters that are changed by gradients which ``torch.autograd.grad`` gives, without an optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.modules.updates import CHANGES
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree

_MADE = frozenset(f"torch.{name}" for name in ("empty", "full", "normal", "ones", "rand", "randn", "tensor", "zeros"))
_PARAMETER = "torch.nn.Parameter"
_SIZES = ("shape", "size", "data")
_METHODS = CHANGES | {"copy_"}


class AskedGradients:
    """Answers about one file."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names

    def changes_by(self, call: ast.Call) -> list[ast.stmt]:
        """Statements that change parameters in place by what ``torch.autograd.grad(loss, parameters)`` gave.

        ``for p, g in zip(model.parameters(), found): p.sub_(rate * g)``, ``w -= rate * g``. What is asked of an input,
        as for an attack or a penalty, changes no parameters.
        """
        asked = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "inputs")]
        bound = self._tree.parents[call]
        if len(asked) != 1 or not isinstance(bound, ast.Assign) or not self._are_parameters(asked[0]):
            return []
        gradients = {part.id for target in bound.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        own = {part.id for part in ast.walk(asked[0]) if isinstance(part, ast.Name)}
        around = self._tree.function_of(call) or self._tree.module
        for loop in self._tree.nodes_in(around, ast.For, functions=False):
            if _named_in(loop.iter, gradients):  # `for p, g in zip(model.parameters(), found)`
                targets = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
                gradients |= targets
                own |= targets
        inside = self._tree.nodes_in(around, ast.AugAssign, ast.Assign, ast.Expr, functions=False)
        behind = (item for item in inside if self._tree.start(item) > self._tree.start(call))
        return [item for item in behind if _is_change(item, own, gradients)]

    def _are_parameters(self, node: ast.expr) -> bool:
        """``model.parameters()``, a list of it, or variables made as parameters are, of no batch's size."""
        if isinstance(node, ast.List | ast.Tuple):
            return bool(node.elts) and all(map(self._are_parameters, node.elts))
        if isinstance(node, ast.Name):
            made = [one.value for one in self._names.bindings(node) if one.kind != "augment"]
            return bool(made) and all(one is not None and self._is_made(one) for one in made)
        return self._is_made(node)

    def _is_made(self, value: ast.expr) -> bool:
        if isinstance(value, ast.List | ast.Tuple):
            return self._are_parameters(value)
        if not isinstance(value, ast.Call):
            return False
        if isinstance(value.func, ast.Attribute) and value.func.attr == "parameters":
            return True
        name, given = self._names.qualified(value.func), values_given(value)
        if name in ("builtins.list", "builtins.tuple"):
            return len(given) == 1 and self._is_made(given[0])
        if any(isinstance(part, ast.Attribute) and part.attr in _SIZES for item in given for part in ast.walk(item)):
            return False
        is_leaf = any(item.arg == "requires_grad" and _is_true(item.value) for item in value.keywords)
        return name == _PARAMETER or (name in _MADE and is_leaf)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_change(statement: ast.stmt, parameters: set[str], gradients: set[str]) -> bool:
    """``p -= rate * g``, ``p.data.add_(g, alpha=-rate)``, ``p.data = p.data - rate * g``, ``p.copy_(p - rate * g)``."""
    changed: ast.expr
    by: Iterator[ast.expr]
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Sub | ast.Add):
        changed, by = statement.target, iter([statement.value])
    elif isinstance(statement, ast.Assign):
        changed, by = statement.targets[0], iter([statement.value])
        if not isinstance(changed, ast.Attribute) or changed.attr != "data":
            return False
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        if not isinstance(func, ast.Attribute) or func.attr not in _METHODS:
            return False
        changed, by = func.value, iter(values_given(statement.value))
    else:
        return False
    if isinstance(changed, ast.Attribute) and changed.attr == "data":
        changed = changed.value
    is_parameter = isinstance(changed, ast.Name) and changed.id in parameters
    return is_parameter and any(_named_in(item, gradients) for item in by)


def _named_in(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))
