"""What changes in the distance of two numbers, ``rows[start:end]``, from one turn to the next."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_CALLS = 8
"""Calls of one function that are looked at."""
_DEPTH = 32


def cause_of_distance(
    index: SemanticIndex, given: ast.expr, lower: ast.expr, cause: Callable[[ast.expr, int], ast.AST | None], depth: int
) -> ast.AST | None:
    """What changes in ``end - start``; nothing where ``end = min(start + size, total)``, but in the last turn."""
    from tpulint.semantic.syntax.linear import Linear

    whole = Linear(index, roughly=True).difference(given, lower)
    if whole == [] or _are_given_together(index, given, lower):
        return None
    function = _function_given(index, given, lower)
    if function is not None:
        return _cause_of_distance_given(index, function, given, lower, cause, depth)
    bindings = index.flow.reaching(given) if isinstance(given, ast.Name) else ()
    made = [part_of(one.value, one.path) if one.kind == "assign" else None for one in bindings]
    # Where a branch sets another end, `if start + size > total: end = total`, it may be for the last turn.
    ends = [value for value in made if value is not None] if made and all(made) else [given]
    upper = ends[0]
    if len(ends) == 1:
        is_least = isinstance(upper, ast.Call) and index.qualified_name(upper.func) == "builtins.min"
        ends = upper.args if is_least and isinstance(upper, ast.Call) and len(upper.args) > 1 else [given]
    causes = []
    for end in ends:
        parts = Linear(index, roughly=True).difference(end, lower)
        either = (end, lower) if parts is None else parts
        causes.append(next(filter(None, (cause(part, depth + 1) for part in either)), None))
    return causes[0] if all(causes) else None


def _function_given(index: SemanticIndex, *numbers: ast.expr) -> FunctionNode | None:
    """The function all of these are parameters of: ``def cut(rows, start, end): return rows[start:end]``."""
    bindings = [index.flow.reaching(item) if isinstance(item, ast.Name) else () for item in numbers]
    if not all(len(found) == 1 and found[0].kind == "parameter" for found in bindings):
        return None
    functions = {found[0].statement for found in bindings}
    function = functions.pop() if len(functions) == 1 else None
    return function if isinstance(function, FUNCTIONS) else None


def _cause_of_distance_given(
    index: SemanticIndex,
    function: FunctionNode,
    upper: ast.expr,
    lower: ast.expr,
    cause: Callable[[ast.expr, int], ast.AST | None],
    depth: int,
) -> ast.AST | None:
    """What changes between two numbers that the calls in this file give; of other files that is not known."""
    is_method = index.tree.class_of(function) is not None
    for call in index.definitions.calls_of(function)[:_CALLS] if depth < _DEPTH else ():
        given = dict(arguments_given(call, function, is_method))
        ends = given.get(index.text(upper)), given.get(index.text(lower))
        if ends[0] is not None and ends[1] is not None:
            found = cause_of_distance(index, ends[0], ends[1], cause, depth + 1)
            if found is not None:
                return found
    return None


def _are_given_together(index: SemanticIndex, one: ast.expr, other: ast.expr) -> bool:
    """Whether a call gives both numbers: ``start, end = bounds(step)`` may be as far apart every time."""
    given = [index.flow.reaching(item) if isinstance(item, ast.Name) else () for item in (one, other)]
    values = [{binding.value for binding in bindings if binding.path} for bindings in given]
    return any(isinstance(value, ast.Call) for value in values[0] & values[1])
