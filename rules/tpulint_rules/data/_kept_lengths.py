"""The largest of a batch's lengths, which a loop over its samples keeps in a variable."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tpulint.semantic import SemanticIndex
from tpulint_rules.data._filled_sizes import is_rounding

_LARGER = (ast.Gt, ast.GtE)
_SMALLER = (ast.Lt, ast.LtE)


def use_of_kept(
    index: SemanticIndex, length: ast.expr, sized_by: Callable[[SemanticIndex, ast.AST], ast.AST | None]
) -> ast.AST | None:
    """Where the largest of the lengths that a loop asks for becomes the size of a batch; None where it does not.

    ``for x in batch: most = max(most, len(x))``, or ``n = len(x)`` and ``if n > most: most = n``.
    """
    target = _kept_by(index, length)
    if target is None:
        return None
    scope = index.names.scope_of(target)
    statements = [one.statement for one in index.names.bindings_in(scope, target.id)]
    if not all(_begins(one, target) or index.tree.encloses(one, target) for one in statements):
        return None  # rounded, or cut
    uses = index.names.loads(target.id, scope)
    if any(is_rounding(around) for use in uses for around in index.tree.ancestors(use)):
        return None
    return next((found for use in uses if (found := sized_by(index, use)) is not None), None)


def _kept_by(index: SemanticIndex, length: ast.expr) -> ast.Name | None:
    """The variable in which turns of a loop keep a length where it is larger than all before."""
    parent = index.parent(length)
    if index.tree.loop_of(length) is None:
        return None
    if isinstance(parent, ast.Call):
        around = index.parent(parent)
        target = around.targets[0] if isinstance(around, ast.Assign) else None
        is_largest = index.qualified_name(parent.func) == "builtins.max" and len(parent.args) == 2
        names = [item.id for item in parent.args if isinstance(item, ast.Name)]
        return target if is_largest and isinstance(target, ast.Name) and target.id in names else None
    if isinstance(parent, ast.Compare):
        return _kept_if_larger(index, parent, length)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return None
    uses = index.names.loads(parent.targets[0].id, index.names.scope_of(parent.targets[0]))
    tested = ((use, index.parent(use)) for use in uses)
    found = (_kept_if_larger(index, test, use) for use, test in tested if isinstance(test, ast.Compare))
    return next((name for name in found if name is not None), None)


def _kept_if_larger(index: SemanticIndex, test: ast.Compare, length: ast.expr) -> ast.Name | None:
    """``if n > most: most = n``"""
    branch = index.parent(test)
    if not isinstance(branch, ast.If) or branch.orelse or len(branch.body) != 1 or len(test.ops) != 1:
        return None
    sides, order = (test.left, test.comparators[0]), _LARGER if test.left is length else _SMALLER
    kept = sides[1] if test.left is length else sides[0]
    made = branch.body[0]
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    is_same = isinstance(made, ast.Assign) and index.text(made.value) == index.text(length)
    is_kept = isinstance(kept, ast.Name) and isinstance(target, ast.Name) and kept.id == target.id
    return target if is_kept and is_same and isinstance(test.ops[0], order) else None  # type: ignore[return-value]


def _begins(statement: ast.AST, target: ast.Name) -> bool:
    """``most = 0``, in front of the loop."""
    is_plain = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
    return is_plain and statement.lineno < target.lineno  # type: ignore[attr-defined]
