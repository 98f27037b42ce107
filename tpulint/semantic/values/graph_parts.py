"""Parts of a graph of PyTorch Geometric that was moved to the device: ``data.x``, ``out[data.train_mask]``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree

_LIBRARY = "torch_geometric"
MASKS = frozenset({"train_mask", "val_mask", "test_mask"})
"""Parts that tell of each node whether it is one of those for training, and so on."""
_PARTS = MASKS | {"x", "y", "edge_index", "edge_attr", "edge_weight", "edge_type", "batch", "pos"}
_MOVES = frozenset({"to", "cuda"})
_DEPTH = 3
"""Functions that a graph is handed through."""


class GraphParts:
    """Of one file."""

    def __init__(self, tree: SyntaxTree, flow: Flow, definitions: Definitions) -> None:
        self._flow = flow
        self._definitions = definitions
        self._exist = _LIBRARY in tree.source.text

    def has(self, node: ast.Attribute) -> bool:
        """Whether an attribute is a tensor of a graph on the device."""
        return self._exist and node.attr in _PARTS and self._is_moved(node.value, 0)

    def _is_moved(self, node: ast.expr, depth: int) -> bool:
        """Whether an expression may be a graph that a call moves: ``dataset[0].to(device)``, or a name of it."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES and bool(node.args or depth)
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) and depth <= _DEPTH else ()
        return any(self._binds_moved(binding, depth + 1) for binding in bindings)

    def _binds_moved(self, binding: Binding, depth: int) -> bool:
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            given = self._definitions.arguments.of(binding.statement, binding.name)
            return any(self._is_moved(item, depth) for item in given)
        return binding.kind == "assign" and binding.value is not None and self._is_moved(binding.value, depth)
