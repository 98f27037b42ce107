"""Numbers that a function called in every step reads and returns: ``return loss.item()``, ``return loss, correct``."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Step
from tpulint.semantic.reads.reads import Read, Use
from tpulint.semantic.reads.stand_ins import read_of_stand_in

TYPE_CHECKING = False
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
        statement, function = index.statement_of(read.node), index.function_of(read.node)
        if function not in loop.functions or not isinstance(function, ast.FunctionDef):
            return None
        found = self.result_of(function)
        if found is None:
            return None
        returned, whole, used = found
        values = whole.elts if isinstance(whole, ast.Tuple) else [whole]
        places = self._places(read, statement, returned, values)
        numbers: list[ast.expr] = []
        for at in places:
            for call in used:
                needed = self._needed(call, at if isinstance(whole, ast.Tuple) else None)
                if needed is None:
                    return None
                numbers += needed
        others = [item for at in places for item in self._stand_ins(values[at])] if statement is returned else []
        return ReturnedValue((*index.reads.inside(statement), *others), tuple(numbers)) if places else None

    def result_of(self, function: ast.FunctionDef) -> tuple[ast.Return, ast.expr, list[ast.Call]] | None:
        """The statement that returns, what it returns, and the calls whose result is used; None if some are unseen."""
        index = self._index
        returns = [node for node in index.tree.inside(function, functions=False) if isinstance(node, ast.Return)]
        calls = index.definitions.calls_of(function)
        if len(returns) != 1 or returns[0].value is None or not calls:
            return None
        called = {call.func for call in calls}
        mentions = (mention for mention in index.names.mentions_of(function) if mention not in called)
        if any(self._may_mean(mention, function) for mention in mentions):
            return None  # handed on somewhere: not all calls are seen
        used = [call for call in calls if not isinstance(index.parent(call), ast.Expr)]
        return returns[0], returns[0].value, used

    def _may_mean(self, mention: ast.expr, function: ast.FunctionDef) -> bool:
        """Whether what is called as a function may be it; ``step`` is the name of variables and of updates as well."""
        index, user = self._index, self._index.parent(mention)
        if isinstance(mention, ast.Name) and index.tree.class_of(function) is not None:
            found = index.names.find_name(mention)
            return found is None or isinstance(found[0].node, ast.ClassDef)
        if not isinstance(user, ast.Call) or user.func is not mention:
            return True
        return user not in self._updates and index.definitions.function_called(user) is None

    @cached_property
    def _updates(self) -> set[ast.Call]:
        """What any loop or function of the file calls of optimizers."""
        holders = (*self._index.tree.loops, *self._index.tree.functions)
        return {update for holder in holders for update in self._index.regions.events.of(holder).updates}

    def _places(self, read: Read, statement: ast.stmt, returned: ast.Return, values: list[ast.expr]) -> list[int]:
        """Which of the values a function returns are read by a statement; none where tensors cannot stand in."""
        index = self._index
        if read.use is Use.RETURN and statement is returned:
            inside = [index.reads.inside(value) or self._stand_ins(value) for value in values]
            if not all(map(self._is_number, values, inside)):
                return []
            return [at for at, reads in enumerate(inside) if reads]
        if not isinstance(statement, ast.Assign) or not index.held_values.is_holdable(read):
            return []
        target = statement.targets[0]
        uses = index.held_values.uses_of(statement, target) if isinstance(target, ast.Name) else None
        places = [at for at, value in enumerate(values) if value in (uses or ())]
        return places if uses is not None and len(uses) == len(places) == 1 else []

    def _stand_ins(self, value: ast.expr) -> list[Read]:
        read = read_of_stand_in(self._index, value)
        return [] if read is None else [read]

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
