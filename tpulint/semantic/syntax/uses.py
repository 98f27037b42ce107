"""What a file uses: references to qualified names, and calls of methods by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree

Reference = tuple[ast.expr, str]
"""An expression, and its qualified name."""


class Uses:
    """Sorted once by name, when the first rule asks: hundreds of questions follow."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self._references: list[Reference] | None = None
        self._references_under: dict[tuple[str, ...], list[Reference]] = {}
        self._method_calls: dict[str, list[tuple[int, ast.Call]]] | None = None

    def references(self, prefixes: tuple[str, ...]) -> list[Reference]:
        """Outermost dotted names that are one of the prefixes or lie under it."""
        if self._references is None:
            self._references = list(self._all_references())
        found = self._references_under.get(prefixes)
        if found is None:
            below = tuple(prefix + "." for prefix in prefixes)
            found = [item for item in self._references if item[1] in prefixes or item[1].startswith(below)]
            self._references_under[prefixes] = found
        return found

    def _all_references(self) -> Iterator[Reference]:
        names = self._names
        for root in self._tree.names:
            if root.id in names.nameable and isinstance(root.ctx, ast.Load):
                found = names.outermost(root)
                if found is not None:
                    yield found

    def method_calls(self, methods: tuple[str, ...]) -> Iterator[tuple[ast.Call, ast.expr]]:
        """Calls ``receiver.method(...)``, with the receiver; calls of qualified names are not among them."""
        if self._method_calls is None:
            self._method_calls = {}
            for at, call in enumerate(self._tree.calls):
                if isinstance(call.func, ast.Attribute):
                    self._method_calls.setdefault(call.func.attr, []).append((at, call))
        # The places in the list of all calls keep the order where several methods are asked for.
        asked = dict.fromkeys(methods)
        found = [item for method in asked for item in self._method_calls.get(method, ())]
        if len(asked) > 1:
            found.sort(key=lambda item: item[0])
        for _, call in found:
            func = call.func
            if isinstance(func, ast.Attribute) and self._names.qualified(func) is None:
                yield call, func.value
