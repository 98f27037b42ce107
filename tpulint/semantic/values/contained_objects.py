"""Objects in tuples, lists, dictionaries and attributes of the file: where a part of an expression was created."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.syntax.bindings import origin_of
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint.semantic.values.appended import Appended
from tpulint.semantic.values.creations import Creation
from tpulint.semantic.values.entries import entries_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

    _Part = tuple[ast.expr, tuple[str, ...]]

_DEPTH = 6
_MOST = 4
"""Assignments to attributes of one name: a bound on the ways to what an attribute holds."""


class ContainedObjects:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._appended = Appended(index)
        self._put: dict[str, list[tuple[ast.expr, _Part]]] | None = None

    def of(self, node: ast.expr, path: tuple[str, ...] = (), depth: int = 0) -> Iterator[Creation]:
        """Objects that a part of an expression may be, and the containers in which they lie.

        ``("0", "['train']")`` is the loader in ``return {"train": loader}, count`` of the function that is called.
        """
        for creation in self._index.moves.creations.of_part(node, path):
            yield creation
            for item, rest in self._within(creation) if depth < _DEPTH else ():
                yield from self.of(item, rest, depth + 1)

    def _within(self, creation: Creation) -> Iterator[_Part]:
        """What lies at the first place of the path of a container, with the rest of the path."""
        if not creation.path:
            return
        node, at, rest = creation.node, creation.path[0], creation.path[1:]
        if isinstance(node, ast.Tuple | ast.List) and at.isdecimal() and int(at) < len(node.elts):
            yield node.elts[int(at)], rest
        first = creation._replace(path=(at,))
        yield from ((item, rest) for item in (*entries_named(first), *self._appended.at(first)))
        owner = self._index.definitions.class_called(node) if isinstance(node, ast.Call) and at.isidentifier() else None
        for kept in self._index.names.attribute_bindings(owner, at) if owner is not None else ():
            if kept.value is not None and all(place >= 0 for place in kept.path):
                yield kept.value, (*map(str, kept.path), *rest)
        for holder, (value, places) in self._put_as(at) if at.isidentifier() else ():
            if any(one.node is node and not one.path for one in self._index.moves.creations.of(holder)):
                yield value, (*places, *rest)

    def _put_as(self, name: str) -> list[tuple[ast.expr, _Part]]:
        """Variables that are given an attribute of a name, with what it is: ``options.train = load(path)``."""
        if self._put is None:
            self._put = {}
            tree = self._index.tree
            for target in tree.attributes:
                if isinstance(target.ctx, ast.Store) and isinstance(target.value, ast.Name) and not is_of_self(target):
                    kind, _, value, path = origin_of(target, tree)
                    if kind == "assign" and value is not None and all(place >= 0 for place in path):
                        self._put.setdefault(target.attr, []).append((target.value, (value, tuple(map(str, path)))))
        found = self._put.get(name, [])
        return found if len(found) <= _MOST else []
