"""Numbers that a function called in every step reads and returns: ``return loss.item()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from tpulint.semantic.reads import Read, Use
from tpulint.semantic.regions import Step

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class ReturnedValue(NamedTuple):
    """A function that can return the tensor, so that its callers read it where they need the number."""

    reads: tuple[Read, ...]
    numbers: tuple[ast.expr, ...]
    """Where the number is needed: calls whose result is used, or variables that a tuple of results is unpacked to."""


class ReturnedValues:
    """Finds them in the functions a step runs."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, read: Read, loop: Step) -> ReturnedValue | None:
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
        calls = index.definitions.calls_of(function)
        if not calls or len(index.names.mentions_of(function)) > len(calls):
            return None  # handed on somewhere: not all calls are seen
        used = [call for call in calls if not isinstance(index.parent(call), ast.Expr)]
        values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
        numbers: list[ast.expr] = []
        for at, value in enumerate(values):
            inside = index.reads.inside(value)
            if not self._is_number(value, inside):
                return None
            for call in used if inside else ():
                needed = self._needed(call, at if isinstance(statement.value, ast.Tuple) else None)
                if needed is None:
                    return None
                numbers += needed
        return ReturnedValue(tuple(reads), tuple(numbers))

    def _is_number(self, value: ast.expr, reads: list[Read]) -> bool:
        """Whether a value is arithmetic on numbers that tensors can stand in for, or has no read in it."""
        scalars = self._index.scalars
        if not all(scalars.is_number(read) for read in reads):
            return False
        return not reads or scalars.is_arithmetic(value, {read.node for read in reads})

    def _needed(self, call: ast.Call, at: int | None) -> list[ast.expr] | None:
        """Where a caller needs the number (one of a tuple), if it is only added up, collected, or needed rarely."""
        index = self._index
        if at is None and (index.totals.accepts(call) or index.filled_lists.accepts(call)):
            return [call]
        statement = index.statement_of(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if at is not None:
            parts = target.elts if isinstance(target, ast.Tuple) else []
            target = parts[at] if at < len(parts) else statement.value
        uses = index.held_values.uses_of(statement, target) if isinstance(target, ast.Name) else None
        if uses is None or not all(index.held_values.is_rare(use) for use in uses):
            return None
        return list(uses)
