"""Names that hold an option until it is replaced by what it chooses: ``if net is not None: net = NETS[net]()``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import is_none


def without_options(tree: SyntaxTree, bindings: Sequence[Binding]) -> tuple[Binding, ...]:
    """The bindings of a name, but those whose value is None wherever it is not replaced."""
    replacing = [branch for binding in bindings if (branch := _branch_replacing(tree, binding)) is not None]
    return tuple(
        binding
        for binding in bindings
        if binding.statement is None
        or not any(
            tree.parents.get(binding.statement) is tree.parents.get(branch)
            and tree.span(binding.statement) < tree.span(branch)
            for branch in replacing
        )
    )


def _branch_replacing(tree: SyntaxTree, binding: Binding) -> ast.If | None:
    """The ``if net is not None:`` around what gives ``net`` another value."""
    branch = tree.parents.get(binding.statement) if isinstance(binding.statement, ast.Assign) else None
    test = branch.test if isinstance(branch, ast.If) and not branch.orelse else None
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and is_none(test.comparators[0]):
        test = test.left
    is_asked = isinstance(test, ast.Name) and test.id == binding.name
    return branch if isinstance(branch, ast.If) and is_asked and binding.statement in branch.body else None
