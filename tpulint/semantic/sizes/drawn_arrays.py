"""Arrays of whole numbers that are drawn, whose largest and whose sum are others in most turns."""

from __future__ import annotations

import ast
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_ARRAYS = frozenset({
    "numpy.random.geometric", "numpy.random.poisson", "numpy.random.binomial", "numpy.random.randint",
})  # fmt: skip
_DEPTH = 8
"""Variables and functions that a draw is followed through."""


class DrawnArrays:
    """Questions about expressions of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def draw(self, node: ast.expr, is_asked: Callable[[ast.AST], bool], depth: int = 0) -> ast.Call | None:
        """The draw that makes an array, ``np.random.geometric(p, count)``, or is made by what is called where asked."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            made = [one.value for one in bindings if one.kind == "assign" and not one.path and one.value is not None]
            found = [self.draw(value, is_asked, depth + 1) for value in made]
            return next(filter(None, found), None) if len(made) == len(bindings) else None
        return self._drawn(node, depth) if isinstance(node, ast.Call) and is_asked(node) else None

    def _drawn(self, call: ast.Call, depth: int) -> ast.Call | None:
        if self._index.qualified_name(call.func) in _ARRAYS:
            return call
        results = self._results_of(call) if depth < _DEPTH else []
        found = [self._drawn(value, depth + 1) if isinstance(value, ast.Call) else None for value in results]
        return found[0] if found and all(found) else None

    def _results_of(self, call: ast.Call) -> list[ast.expr]:
        """What a call of a function of this file gives, be it a lambda in a variable."""
        function = self._index.definitions.function_called(call)
        if function is not None:
            return self._index.definitions.returned_by(function)
        bindings = self._index.flow.reaching(call.func) if isinstance(call.func, ast.Name) else ()
        made = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
        lambdas = [value.body for value in made if isinstance(value, ast.Lambda)]
        return lambdas if len(lambdas) == len(bindings) else []
