"""What is put into an empty list or dictionary: ``loaders.append(loader)``, ``loaders["train"] = loader``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.creations import Creation


class Appended:
    """Answers about the lists and dictionaries of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def at(self, creation: Creation) -> Iterator[ast.expr]:
        """What an element may be; where a loop fills the list, any of what it puts there."""
        if len(creation.path) == 1:
            yield from (value for key, value in self._stored.get(creation.node, ()) if key == creation.path[0])
        calls = self._calls.get(creation.node, ()) if len(creation.path) == 1 else ()
        in_loop = any(self._index.tree.loop_of(call) is not None for call in calls)
        for at, call in enumerate(calls):
            if in_loop or creation.path[0] == f"[{at}]":
                yield call.args[0]

    @cached_property
    def _calls(self) -> dict[ast.AST, list[ast.Call]]:
        """By the empty list, in order of position."""
        index = self._index
        found: dict[ast.AST, list[ast.Call]] = {}
        for call, receiver in index.method_calls("append"):
            if len(call.args) != 1 or not isinstance(receiver, ast.Name):
                continue
            for creation in index.moves.creations.of(receiver):
                if isinstance(creation.node, ast.List) and not creation.node.elts and not creation.path:
                    found.setdefault(creation.node, []).append(call)
        return found

    @cached_property
    def _stored(self) -> dict[ast.AST, list[tuple[str, ast.expr]]]:
        """By the dictionary, what assignments put into it with constant keys."""
        index = self._index
        found: dict[ast.AST, list[tuple[str, ast.expr]]] = {}
        for node in index.tree.nodes_in(index.tree.module, ast.Subscript):
            statement = index.parent(node)
            if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
                continue
            is_stored = isinstance(statement, ast.Assign) and node in statement.targets
            if not is_stored or not isinstance(statement, ast.Assign) or not isinstance(node.value, ast.Name):
                continue
            for creation in index.moves.creations.of(node.value):
                if isinstance(creation.node, ast.Dict) and not creation.path:
                    found.setdefault(creation.node, []).append((f"[{node.slice.value!r}]", statement.value))
        return found
