"""Functions that give back what they are given, changed: ``def mean_over_ranks(x): return x.clone() / n``."""

from __future__ import annotations

import ast

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Names
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, SyntaxTree

_DEPTH = 8
_MOVES = frozenset({"to", "cuda", "xla"})
_HOST = frozenset({"cpu", "numpy", "item", "tolist"})
_CALCULATING = ("torch.", "math.", "builtins.")
_METHODS = frozenset({
    *facts.TENSOR_METHODS, *facts.TENSOR_ONLY_METHODS, *facts.IN_PLACE_METHODS, *facts.TENSOR_HOST_METHODS,
})  # fmt: skip


class Passing:
    """Answers about the functions of one file."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._choices: dict[FunctionNode, frozenset[str]] = {}
        self._moving: dict[FunctionNode, bool] = {}

    def parameter(self, function: FunctionNode) -> str | None:
        """The parameter that what a function returns is made of by methods of tensors; None for anything else."""
        found = {self._root(value, 0) for value in self._definitions.returned_by(function)}
        return found.pop() if len(found) == 1 else None

    def choice(self, function: FunctionNode) -> frozenset[str]:
        """The parameters one of which a function hands back as it is: ``return x if x is not None else other``."""
        if function not in self._choices:
            returned = () if self._tree.class_of(function) else self._definitions.returned_by(function)
            found = {name for value in returned for name in self._picked(value)}
            self._choices[function] = frozenset() if None in found else frozenset(name for name in found if name)
        return self._choices[function]

    def _picked(self, node: ast.expr) -> list[str | None]:
        if isinstance(node, ast.IfExp):
            return [*self._picked(node.body), *self._picked(node.orelse)]
        if isinstance(node, ast.BoolOp):
            return [name for item in node.values for name in self._picked(item)]
        if isinstance(node, ast.Call) and not node.args and not node.keywords:
            node = node.func  # `other() if isfunction(other) else other`
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        own = bool(bindings) and all(binding.kind == "parameter" for binding in bindings)
        return [node.id if own and isinstance(node, ast.Name) else None]

    def stays(self, function: FunctionNode) -> bool:
        """Whether a function neither moves tensors to the host nor makes any there."""
        for node in self._tree.inside(function, functions=False):
            if isinstance(node, ast.Attribute) and node.attr in _HOST:
                return False
            if isinstance(node, ast.Constant) and node.value == "cpu":
                return False
            if isinstance(node, ast.Call):
                head, _, last = (self._names.qualified(node.func) or "").rpartition(".")
                if (head == "torch" and last in facts.TORCH_FACTORIES) or head.startswith("numpy"):
                    return False
        return True

    def moves_nothing(self, function: FunctionNode) -> bool:
        """Whether the tensors of a function, no method, lie where those given to it do: it moves and makes none.

        It calls functions of torch and methods of tensors alone: a model, or another function, may move what it gets.
        """
        if function not in self._moving:
            nodes = self._tree.inside(function, functions=False)
            moves = not self.stays(function) or any(
                (isinstance(node, ast.Attribute) and (node.attr in _MOVES or node.attr == "device"))
                or (isinstance(node, ast.Call) and not self._only_calculates(node.func))
                for node in nodes
            )
            self._moving[function] = moves or self._tree.class_of(function) is not None
        return not self._moving[function]

    def _only_calculates(self, func: ast.expr) -> bool:
        name = self._names.qualified(func)
        if name is not None:
            return name.startswith(_CALCULATING)
        return isinstance(func, ast.Attribute) and func.attr in _METHODS

    def _root(self, node: ast.expr, depth: int) -> str | None:
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            return self._bound(node, depth)
        if isinstance(node, ast.BinOp):
            return self._root(node.left, depth + 1) or self._root(node.right, depth + 1)
        if isinstance(node, ast.UnaryOp):
            return self._root(node.operand, depth + 1)
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "data"):
            return self._root(node.value, depth + 1)
        func = node.func if isinstance(node, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr not in facts.TENSOR_METHODS | _MOVES:
            return None
        return self._root(func.value, depth + 1) if self._names.qualified(func) is None else None

    def _bound(self, name: ast.Name, depth: int) -> str | None:
        found: set[str | None] = set()
        for binding in self._flow.reaching(name):
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                found.add(binding.name)
            elif binding.kind == "assign" and binding.value is not None and not binding.path:
                found.add(self._root(binding.value, depth + 1))
            elif binding.kind != "augment":  # `x /= n` changes what is there
                found.add(None)
        return found.pop() if len(found) == 1 else None
