"""What is put into an empty list: ``loaders.append(loader)``, of which ``loaders[0]`` is an element."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.creations import Creation


class Appended:
    """Answers about the lists of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def at(self, creation: Creation) -> Iterator[ast.expr]:
        """What an element of a list may be; where a loop fills the list, any of what it puts there."""
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
