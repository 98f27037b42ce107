"""Layers of which torch_xla replaces the class."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex

GRU = "torch.nn.GRU"


def is_replaced(index: SemanticIndex, node: ast.AST) -> bool:
    """Whether an expression makes a GRU that runs in one direction."""
    if not isinstance(node, ast.Call) or index.qualified_name(node.func) != GRU:
        return False
    both = [item for item in node.keywords if item.arg in ("bidirectional", None)]
    return len(node.args) < 7 and all(
        item.arg is not None and isinstance(item.value, ast.Constant) and item.value.value is False for item in both
    )
