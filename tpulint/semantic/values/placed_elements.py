"""Elements of a batch that are put back where they were taken from: ``batch["x"] = batch["x"].to(device)``."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.contents import Contents, Key, Store


class PlacedElements:
    """Finds what was last put into a container that a loop, a call or a caller gave."""

    def __init__(self, tree: SyntaxTree, flow: Flow, contents: Contents) -> None:
        self._tree = tree
        self._flow = flow
        self._contents = contents

    def last(self, container: ast.expr, key: Key) -> ast.expr | None:
        """What an element with this key was given before the container is used here; None if nothing is known."""
        bindings = self._flow.reaching(container) if isinstance(container, ast.Name) else ()
        stores = self._contents.stored_into(bindings[0]) if len(bindings) == 1 else []
        found = None
        for store in sorted(stores, key=lambda one: self._tree.start(one[1])):
            at, value, place = store
            if isinstance(self._tree.statement_of(value), ast.AugAssign):
                continue  # what is added to an element does not say what that was
            whole = self._loop_over_all(store)
            if whole is None and (at is None or at != key):
                continue
            if isinstance(at, int) and not _mentions(value, place):
                continue  # of a tensor, `x[0] = y` leaves it where it lies
            if self._has_run(whole or self._tree.statement_of(value), container):
                found = value
        return found

    def _loop_over_all(self, store: Store) -> ast.For | None:
        """The loop that puts back each element: ``for k, v in batch.items()``, which asks of none what it is."""
        _, value, place = store
        subscript = self._tree.parents[place]
        statement = self._tree.statement_of(value)
        above = self._tree.parents[statement]
        if not isinstance(subscript, ast.Subscript) or not isinstance(above, ast.For) or statement in above.orelse:
            return None
        first, key = above.target.elts[0] if isinstance(above.target, ast.Tuple) else above.target, subscript.slice
        is_key = isinstance(first, ast.Name) and isinstance(key, ast.Name) and first.id == key.id
        return above if is_key and _mentions(above.iter, place) else None

    def _has_run(self, statement: ast.stmt, use: ast.AST) -> bool:
        """Whether a statement has run whenever something is used: it stands in a block around that, in front of it."""
        child = self._tree.child_towards(self._tree.parents[statement], use)
        if not isinstance(child, ast.stmt) or child is statement:
            return False
        suite = self._tree.suite_of(statement)
        return self._tree.suite_of(child) is suite and suite.index(statement) < suite.index(child)


def _mentions(node: ast.expr, container: ast.expr) -> bool:
    name = container.id if isinstance(container, ast.Name) else None
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))
