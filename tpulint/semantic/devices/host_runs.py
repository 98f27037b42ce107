"""Loops whose modules must be on the host: NumPy takes what they give, or nothing moves them there."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.modules.module_runs import ModuleRuns
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import Comprehension, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kinds, Side

GPU_MOVES = frozenset({"to", "cuda"})
"""Methods by which code for GPUs moves models and batches."""
_UPLOADS = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor"})


class HostRuns:
    """Answers about the loops of one file."""

    def __init__(
        self, tree: SyntaxTree, names: Names, kinds: Kinds, definitions: Definitions, runs: ModuleRuns
    ) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._runs = runs

    def are_in(self, loop: LoopNode | Comprehension) -> bool:
        """Whether a module that a loop runs must be on the host: NumPy takes its result as it is.

        In a file that moves nothing, it must be too where it is given what was made on the host; a model that a
        function makes for itself must be where that moves nothing to run it.
        """
        moves = any(isinstance(call.func, ast.Attribute) and call.func.attr in GPU_MOVES for call in self._tree.calls)
        if self._runs_unmoved(loop):
            return True
        for node in self._tree.nodes_in(loop, ast.Call, functions=False):
            if self._runs.is_run(node):
                if not moves and any(map(self._is_made_on_host, node.args)):
                    return True
                outer: ast.AST = node
                while isinstance(parent := self._tree.parents[outer], ast.Subscript | ast.Attribute):
                    outer = parent
                if isinstance(outer, ast.Attribute) and outer.attr == "numpy":
                    return True
        return False

    def _runs_unmoved(self, loop: LoopNode | Comprehension) -> bool:
        """Whether all models that a loop runs were left on the host, and so was whatever they are given."""
        calls = [call for call in self._tree.nodes_in(loop, ast.Call, functions=False) if self._runs.is_run(call)]
        if not calls or self._kinds.default_side is not Side.HOST:
            return False
        function = self._tree.function_of(loop)
        inside = self._tree.nodes_in(function, ast.Attribute, functions=False) if function is not None else ()
        moves = any(isinstance(node, ast.Attribute) and node.attr in GPU_MOVES for node in inside)
        return not moves and all(self._kinds.unmoved_models.has(call.func) for call in calls)

    def _is_made_on_host(self, node: ast.expr) -> bool:
        """Whether a tensor is made of an array or of numbers, and lies where it was made."""
        if self._kinds.value(node).side is not Side.HOST:
            return False
        bindings = self._names.bindings(node) if isinstance(node, ast.Name) else []
        values = [binding.value for binding in bindings] or [node]
        return all(isinstance(item, ast.Call) and self._names.qualified(item.func) in _UPLOADS for item in values)
