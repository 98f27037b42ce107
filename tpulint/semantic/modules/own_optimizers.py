"""Optimizers that classes of a file are, or have: their ``step`` goes through the parameters of what is trained."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, is_of_self
from tpulint.semantic.syntax.torch_facts import OPTIMIZERS
from tpulint.semantic.syntax.tree import SyntaxTree

_GROUPS, _PARAMETERS, _STEP = "param_groups", "params", "step"
_GRADIENT = "grad"
_SCHEDULERS = "lr_scheduler"
_AVERAGES = "swa_utils"


class OwnOptimizers:
    """Answers about one file."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._are_there = tree.source.has_any((_GROUPS,)) and bool(tree.classes)
        self._optimized: dict[ast.ClassDef, set[str]] = {}

    def is_step(self, function: ast.AST) -> bool:
        """Whether a function is the ``step`` of an optimizer, or of an object that steps one it has made."""
        if not isinstance(function, FUNCTIONS) or function.name != _STEP:
            return False
        owner = self._tree.class_of(function)
        return self._is_of_optimizer(function) or (owner is not None and bool(self._parameters_of(owner)))

    def are_parameters(self, node: ast.expr) -> bool:
        """Whether an expression is parameters: ``group["params"]`` of ``self.param_groups``.

        Or ``self.params``, of which the object makes an optimizer: ``self.optimizer = SGD(self.params, lr=0.1)``.
        """
        if isinstance(node, ast.Attribute):
            owner = self._tree.class_of(node) if is_of_self(node) else None
            return owner is not None and node.attr in self._parameters_of(owner)
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

    def _parameters_of(self, owner: ast.ClassDef) -> set[str]:
        """Attributes that a class makes optimizers of, and whose gradients it looks at; groups of them are dicts."""
        found = self._optimized.get(owner)
        if found is None:
            found = self._optimized[owner] = set()
            calls = self._tree.nodes_in(owner, ast.Call) if self._tree.source.has_any((f".{_GRADIENT}",)) else []
            made = [call for call in calls if isinstance(call, ast.Call) and self._is_optimizer(call)]
            parts = self._tree.inside(owner) if made else ()
            looks = any(isinstance(part, ast.Attribute) and part.attr == _GRADIENT for part in parts)
            groups = any(isinstance(part, ast.Constant) and part.value == _PARAMETERS for part in parts)
            for call in made if looks and not groups else ():
                given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == _PARAMETERS)]
                found.update(item.attr for item in given if is_of_self(item))
        return found

    def _is_optimizer(self, call: ast.Call) -> bool:
        name = self._names.qualified(call.func) or ""
        return name.startswith(f"{OPTIMIZERS}.") and _SCHEDULERS not in name and _AVERAGES not in name

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
