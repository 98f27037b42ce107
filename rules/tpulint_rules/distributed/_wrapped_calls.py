"""Where a file calls the models that wrappers gave, and those of which a part is wrapped."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from tpulint.semantic import FUNCTIONS, Binding, Kind, SemanticIndex
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint.semantic.values.creations import Creation

_DEPTH = 4


class Wrapped:
    """Where a file calls what wrappers gave: found in one pass, for a file of tests wraps a hundred models."""

    def __init__(self, index: SemanticIndex, wrappers: Iterable[ast.Call]) -> None:
        self._index = index
        self._wrappers: set[ast.expr] = {*wrappers}
        self._memo: dict[tuple[Binding, int], set[ast.expr]] = {}

    def calls_of(self, wrapper: ast.Call) -> list[ast.Call]:
        """Calls of variables that may hold what one wrapper gave, or the whole of which it is a part, in order."""
        return self._calls.get(wrapper, [])

    @cached_property
    def _calls(self) -> dict[ast.expr, list[ast.Call]]:
        found: dict[ast.expr, list[ast.Call]] = {}
        for call in self._index.calls:
            if isinstance(call.func, ast.Name | ast.Attribute):
                for wrapper in self._held(call.func, 0) | self._with_part(call.func):
                    found.setdefault(wrapper, []).append(call)
        return found

    def gave(self, wrapper: ast.Call, node: ast.expr) -> bool:
        """Whether an expression may be what one wrapper gave, or the whole of which that is a part."""
        return wrapper in self._held(node, 0) or wrapper in self._with_part(node)

    @cached_property
    def _wholes(self) -> dict[ast.expr, list[Creation]]:
        """By the wrapper, the model whose part it is around: ``model.features = DataParallel(model.features)``.

        The part that takes what the model is given moved it; others are given what lies on the device already.
        """
        found: dict[ast.expr, list[Creation]] = {}
        for wrapper in self._wrappers:
            statement = self._index.statement_of(wrapper)
            targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is wrapper else []
            for target in targets:
                if isinstance(target, ast.Attribute) and not is_of_self(target):
                    found.setdefault(wrapper, []).extend(self._index.moves.creations.of(target.value))
        return found

    def _with_part(self, node: ast.expr) -> set[ast.expr]:
        """Wrappers of which an expression may be the model that has what they gave as a part."""
        if not self._wholes or self._index.kind(node) not in (Kind.MODULE, Kind.UNKNOWN):
            return set()
        made = self._index.moves.creations.of(node)
        return {
            wrapper
            for wrapper, wholes in self._wholes.items()
            if any(one.overlaps(whole) and one.path == whole.path for one in made for whole in wholes)
        }

    def _held(self, node: ast.expr, depth: int) -> set[ast.expr]:
        """Wrappers of which an expression may be what they gave."""
        found = {node} & self._wrappers
        if depth > _DEPTH:
            return found
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return found | self._held(node.func.value, depth)  # DDP(model).to(device)
        if isinstance(node, ast.Call):
            return found.union(*(self._held(value, depth + 1) for value in self._returned(node)))
        for binding in self._index.flow.bindings_of(node):
            if (binding, depth) not in self._memo:
                values = [self._held(value, depth + 1) for value in self._values(binding)]
                self._memo[binding, depth] = set().union(*values)
            found |= self._memo[binding, depth]
        return found

    def _values(self, binding: Binding) -> Iterable[ast.expr]:
        if binding.kind == "assign" and binding.value is not None:
            return self._unpacked(binding.value, binding.path)
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            return self._index.definitions.arguments.of(binding.statement, binding.name)
        return ()

    def _unpacked(self, value: ast.expr, path: tuple[int, ...]) -> Iterable[ast.expr]:
        """What a variable gets of ``net, model = net, DataParallel(net)``, or of a function that returns both."""
        if not path:
            return (value,)
        whole = self._returned(value) if isinstance(value, ast.Call) else (value,)
        parts = (one.elts for one in whole if isinstance(one, ast.Tuple | ast.List))
        found = [elements[path[0]] for elements in parts if 0 <= path[0] < len(elements)]  # no `*rest`
        return [inner for one in found for inner in self._unpacked(one, path[1:])]

    def _returned(self, call: ast.Call) -> Iterable[ast.expr]:
        function = self._index.definitions.function_called(call)
        return () if function is None else self._index.definitions.returned_by(function)
