"""Whoever else may look at a total or list while its loop runs: lambdas, handlers, objects that hold it."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.nodes import FUNCTIONS, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def has_onlookers(index: SemanticIndex, loop: LoopNode, target: ast.expr) -> bool:
    """Whether a value in the making may be seen by code that is not the loop's own: it must be up to date then."""
    root: ast.expr = target
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    found = index.names.find_name(root) if isinstance(root, ast.Name) else None
    if found is None or not isinstance(root, ast.Name):
        return False
    loads = index.names.loads(root.id, found[0])
    if root is not target:
        # `callback.on_batch_end(self)`: what it looks at is not seen.
        return any(index.tree.encloses(loop, use) and _is_given(index, use) for use in loads)
    return any(index.tree.lambda_of(use) is not None for use in loads) or any(
        _is_in_handler(index, loop, use) or _escapes_above(index, loop, use) for use in loads
    )


def _is_given(index: SemanticIndex, use: ast.Name) -> bool:
    """Whether a call is given the object itself."""
    parent = index.parent(use)
    return (isinstance(parent, ast.Call) and parent.func is not use) or isinstance(parent, ast.keyword)


def _is_in_handler(index: SemanticIndex, loop: LoopNode, use: ast.Name) -> bool:
    """Whether a use stands where an exception of the loop leads: behind ``except KeyboardInterrupt:``."""
    for ancestor in index.tree.ancestors(loop):
        if isinstance(ancestor, FUNCTIONS):
            return False
        if isinstance(ancestor, ast.Try) and any(
            index.tree.encloses(part, use) for part in (*ancestor.handlers, *ancestor.finalbody)
        ):
            return True
    return False


def _escapes_above(index: SemanticIndex, loop: LoopNode, use: ast.Name) -> bool:
    """Whether an object or another variable holds what the loop fills: ``plot = Plot(losses)``, ``alias = losses``."""
    if index.span(use).start >= index.span(loop).start or index.function_of(use) is not index.function_of(loop):
        return False
    begin, end = index.span(use).end, index.span(loop).start
    if any(
        begin <= index.span(one.node).start < end and index.flow.dominates(one, loop)
        for one in index.names.bindings(use)
    ):
        return False  # another of that name
    parent = index.parent(use)
    return isinstance(parent, ast.Assign) or (_is_given(index, use) and not _is_only_printed(index, parent))


def _is_only_printed(index: SemanticIndex, parent: ast.AST | None) -> bool:
    return isinstance(parent, ast.Call) and (index.qualified_name(parent.func) or "").startswith("builtins.")
