"""Numbers that a function called in every step reads and returns: ``return loss.item()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from tpulint.semantic.reads import Read, Use
from tpulint.semantic.regions import StepLoop

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class ReturnedValue(NamedTuple):
    """A function that can return the tensor, so that its callers read it where they need the number."""

    reads: tuple[Read, ...]
    calls: tuple[ast.Call, ...]
    """Calls whose result is used."""


class ReturnedValues:
    """Finds them in the functions a step runs."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, read: Read, loop: StepLoop) -> ReturnedValue | None:
        """The function that returns a read, where its callers need the number less often than in every step."""
        index = self._index
        statement = index.statement_of(read.node)
        function = index.function_of(read.node)
        if read.use is not Use.RETURN or not isinstance(statement, ast.Return) or function not in loop.functions:
            return None
        assert function is not None
        returns = [node for node in index.tree.inside(function, functions=False) if isinstance(node, ast.Return)]
        reads = index.reads.inside(statement)
        if returns != [statement] or statement.value is None or isinstance(function, ast.AsyncFunctionDef):
            return None
        scalars = index.scalars
        if not all(scalars.is_number(item) for item in reads):
            return None
        if not scalars.is_arithmetic(statement.value, {item.node for item in reads}):
            return None
        calls = index.definitions.calls_of(function)
        if not calls or len(index.names.mentions_of(function)) > len(calls):
            return None  # handed on somewhere: not all calls are seen
        used = [call for call in calls if not isinstance(index.parent(call), ast.Expr)]
        return ReturnedValue(tuple(reads), tuple(used)) if all(self._is_needed_rarely(call) for call in used) else None

    def _is_needed_rarely(self, call: ast.Call) -> bool:
        """Whether the number is only added up, collected, or looked at now and then."""
        index = self._index
        if index.totals.accepts(call) or index.filled_lists.accepts(call):
            return True
        statement = index.statement_of(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        uses = index.held_values.uses_of(statement, target) if isinstance(target, ast.Name) else None
        return uses is not None and all(index.held_values.is_rare(use) for use in uses)
