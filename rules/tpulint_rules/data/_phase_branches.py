"""Branches that make the loader of one phase alone: ``if mode == "warmup":``."""

from __future__ import annotations

import ast

from tpulint.semantic import FUNCTIONS, SemanticIndex

_TRAINING = ("train", "warmup", "warm_up", "pretrain")
"""Beginnings of the names of phases that train."""


def is_branch_of_training(index: SemanticIndex, node: ast.AST) -> bool:
    """Whether the branch around a node is for one phase, which by its name is one that trains."""
    return any(
        isinstance(value, str) and value.lower().startswith(_TRAINING) for value in _phases(index, node).values()
    )


def is_asked_around(index: SemanticIndex, node: ast.AST, test: ast.expr) -> bool:
    """Whether a branch around has said what a condition asks: ``if mode == "warmup":`` of ``mode == "train"``."""
    return isinstance(test, ast.Compare) and index.text(test.left) in _phases(index, node)


def _phases(index: SemanticIndex, node: ast.AST) -> dict[str, object]:
    """What the branches around a node compare names with, in its function: ``{"mode": "warmup"}``."""
    found: dict[str, object] = {}
    child = node
    for ancestor in index.tree.ancestors(node):
        if isinstance(ancestor, FUNCTIONS):
            break
        test = ancestor.test if isinstance(ancestor, ast.If) and child in ancestor.body else None
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            name, value = test.left, test.comparators[0]
            if isinstance(value, ast.Constant) and _is_parameter(index, name):
                found.setdefault(index.text(name), value.value)
        child = ancestor
    return found


def _is_parameter(index: SemanticIndex, name: ast.expr) -> bool:
    bindings = index.flow.reaching(name) if isinstance(name, ast.Name) else ()
    return bool(bindings) and all(binding.kind == "parameter" for binding in bindings)
