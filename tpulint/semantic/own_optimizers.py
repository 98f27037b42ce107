"""Optimizers that classes of a file are: their ``step`` goes through the parameters of the model that is trained."""

from __future__ import annotations

import ast

from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Names
from tpulint.semantic.torch_facts import OPTIMIZERS
from tpulint.semantic.tree import FUNCTIONS, SyntaxTree

_GROUPS, _PARAMETERS, _STEP = "param_groups", "params", "step"
_SCHEDULERS = "lr_scheduler"


class OwnOptimizers:
    """Answers about one file."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._are_there = tree.source.has_any((_GROUPS,)) and bool(tree.classes)

    def is_step(self, function: ast.AST) -> bool:
        """Whether a function is the ``step`` of an optimizer."""
        return isinstance(function, FUNCTIONS) and function.name == _STEP and self._is_of_optimizer(function)

    def are_parameters(self, node: ast.expr) -> bool:
        """Whether an expression is the parameters of a group: ``group["params"]`` of ``self.param_groups``."""
        if not self._are_there or not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
            return False
        if node.slice.value != _PARAMETERS or not self._is_of_optimizer(node):
            return False
        group = node.value
        if isinstance(group, ast.Subscript):
            return self._are_groups(group.value)
        bindings = self._flow.reaching(group) if isinstance(group, ast.Name) else ()
        return bool(bindings) and all(
            one.kind == "loop" and one.value is not None and self._are_gone_through(one.value, one.path)
            for one in bindings
        )

    def _are_gone_through(self, source: ast.expr, path: tuple[int, ...]) -> bool:
        if isinstance(source, ast.Call) and source.args and self._names.qualified(source.func) == "builtins.enumerate":
            return path == (1,) and self._are_groups(source.args[0])
        return not path and self._are_groups(source)

    def _are_groups(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == _GROUPS and isinstance(node.value, ast.Name)

    def _is_of_optimizer(self, node: ast.AST) -> bool:
        owner = self._tree.class_of(node) if self._are_there else None
        owners = [] if owner is None else self._names.classes_above(owner)
        bases = [self._names.qualified(base) or "" for one in owners for base in one.bases]
        return any(name.startswith(f"{OPTIMIZERS}.") and _SCHEDULERS not in name for name in bases)
