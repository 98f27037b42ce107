"""Variables that are a part of a batch, by what a loop deals out."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree

_OF_MODULES = frozenset({
    "parameters", "named_parameters", "state_dict", "load_state_dict", "train", "eval", "zero_grad", "forward", "step",
})  # fmt: skip
"""Methods that no tensor has."""
_OF_TENSORS = facts.TENSOR_METHODS - {
    "add", "bool", "clone", "contiguous", "detach", "detach_", "double", "float", "half", "index_select", "select",
    "size", "split", "type",
} | {"shape"}  # fmt: skip
"""Methods of tensors that modules, and what holds a batch as a whole, do not have."""
_WHOLE = "batch"
"""How a parameter is called, or ends, that is a whole batch."""
_PARTS = 4
"""Names that a part of a batch is followed through."""


class BatchParts:
    """Looks at names alone."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow

    def has(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a variable is a part of what a loop deals out: ``for x, y in ...``, ``x = batch["x"]``.

        Or what is asked of it at once: ``batch["x"].to(device)``. A few samples of a part, ``x[i : i + 8]``, are one.
        """
        if isinstance(node, ast.Subscript):
            is_cut = isinstance(node.slice, ast.Slice) and depth < _PARTS
            return self._is_dealt(node.value) or (is_cut and self.has(node.value, depth + 1))
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) and depth < _PARTS else ()
        return bool(bindings) and all(self._is_bound_to_one(binding, depth) for binding in bindings)

    def _is_bound_to_one(self, binding: Binding, depth: int) -> bool:
        if binding.kind == "loop":
            if isinstance(binding.statement, ast.comprehension) and not binding.path:
                return self._is_gone_through(binding.statement.iter)  # `[x.to(device) for x in batch]`
            return len(binding.path) > self._counts(binding.value) or self._is_asked_as_tensor(binding)
        if binding.kind == "parameter":
            return isinstance(binding.statement, FUNCTIONS) and self._is_trained_on(binding.statement, binding.name)
        value, path = binding.value, binding.path
        if binding.kind != "assign" or value is None:
            return False
        if path and isinstance(value, ast.Tuple):  # x, y = batch["x"], batch["y"]
            value, path = (value.elts[path[0]] if path[0] < len(value.elts) else value), path[1:]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
            return self.has(value.func.value, depth + 1)
        if isinstance(value, ast.Subscript):
            value, path = value.value, (0,)
        return bool(path) and (self._is_dealt(value) or self._is_given_to_step(value, binding.name))

    def _is_asked_as_tensor(self, binding: Binding) -> bool:
        """Whether what a loop deals out whole is used as only tensors are: ``x.cuda()``, and ``x.max()`` or ``x > 0``.

        Modules, graphs and records of a batch, which move as well, have none of these methods, and do not compute.
        """
        name = binding.node
        return isinstance(name, ast.Name) and any(map(self._asks_as_tensor, self._names.loads_of(name)))

    def _asks_as_tensor(self, use: ast.Name) -> bool:
        user = self._tree.parents[use]
        if isinstance(user, ast.Attribute):
            return user.attr in _OF_TENSORS
        if isinstance(user, ast.Compare):
            others = [side for side in (user.left, *user.comparators) if side is not use]
            return all(isinstance(side, ast.Constant) and isinstance(side.value, int | float) for side in others)
        return isinstance(user, ast.BinOp) and isinstance(user.op, ast.Add | ast.Sub | ast.Mult | ast.Div)

    def _is_gone_through(self, source: ast.expr) -> bool:
        """Whether a batch, or some of its parts, are gone through: a parameter is one by its name, ``batch[:3]``."""
        if isinstance(source, ast.Subscript) and isinstance(source.slice, ast.Slice):
            source = source.value
        given = self._flow.reaching(source) if isinstance(source, ast.Name) else ()
        is_given = bool(given) and all(item.kind == "parameter" for item in given)
        return self._is_dealt(source) or (is_given and given[0].name.rpartition("_")[2] == _WHOLE)

    def _is_dealt(self, node: ast.expr) -> bool:
        """Whether a variable is all that a loop deals out in a turn."""
        dealt = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(dealt) and all(item.kind == "loop" and isinstance(item.statement, ast.For) for item in dealt)

    def _is_given_to_step(self, node: ast.expr, part: str) -> bool:
        """Whether a variable is a whole batch that a function is given to train on: ``x, y = batch``."""
        given = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(given) and all(
            item.kind == "parameter"
            and isinstance(item.statement, FUNCTIONS)
            and all(self._is_trained_on(item.statement, name) for name in (item.name, part))
            for item in given
        )

    def _is_trained_on(self, function: FunctionNode, parameter: str) -> bool:
        """Whether a function computes gradients, and nothing in it takes the variable for a module or an optimizer."""
        trains = False
        for node in self._tree.inside(function):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name) and node.func.id == parameter:
                return False
            if isinstance(node.func, ast.Attribute):
                trains = trains or node.func.attr == "backward"
                owner = node.func.value
                if node.func.attr in _OF_MODULES and isinstance(owner, ast.Name) and owner.id == parameter:
                    return False
        return trains

    def _counts(self, source: ast.expr | None) -> int:
        """How deep an element lies in what a loop is given: ``enumerate`` puts a number beside it."""
        name = self._names.qualified(source.func) if isinstance(source, ast.Call) else None
        return 1 if name in ("builtins.enumerate", "builtins.zip") else 0
