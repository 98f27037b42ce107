"""Numbers read into a variable early in a turn and needed late: ``value = loss.item()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from tpulint.semantic.reads import Read, Use
from tpulint.semantic.regions import Pace, StepLoop
from tpulint.semantic.totals import is_arithmetic

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class HeldValue(NamedTuple):
    """A variable that can hold the tensor instead of its value."""

    statement: ast.Assign
    reads: tuple[Read, ...]
    uses: tuple[ast.Name, ...]
    """Where the number is needed; reading it there costs less than reading it early."""


class HeldValues:
    """Finds them in step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, read: Read, loop: StepLoop) -> HeldValue | None:
        """The variable a read is given to, where all its uses can read it themselves."""
        index = self._index
        statement = index.statement_of(read.node)
        if (
            read.use is not Use.NAME
            or not isinstance(statement, ast.Assign)
            or not isinstance(statement.targets[0], ast.Name)
        ):
            return None
        reads = index.reads.inside(statement)
        nodes = {item.node for item in reads}
        if not all(index.totals.is_number(item) for item in reads) or not is_arithmetic(index, statement.value, nodes):
            return None
        uses = self._uses(statement, statement.targets[0])
        if not uses:
            return None
        early = index.deferrals.is_behind_boundary(statement, loop)
        if early and not (statement.value in nodes and all(self._is_rare(use) for use in uses)):
            return None
        if not all(self._may_read(use, loop) for use in uses):
            return None
        return HeldValue(statement, tuple(reads), tuple(uses))

    def _uses(self, statement: ast.Assign, target: ast.Name) -> list[ast.Name] | None:
        """All uses of the value; None when not all of them are seen, or some may hold another value."""
        index = self._index
        scope = index.names.scope_of(target)
        found = index.names.find(target.id, scope)
        if found is None or found[0] is not scope:
            return None
        binding = next((b for b in found[1] if b.node is target), None)
        uses: list[ast.Name] = []
        for name in index.tree.names:
            if name.id != target.id:
                continue
            home = index.names.find(name.id, index.names.scope_of(name))
            if home is None or home[0] is not scope:
                continue
            if isinstance(index.parent(name), ast.AugAssign) and not isinstance(name.ctx, ast.Load):
                return None
            if not isinstance(name.ctx, ast.Load):
                continue
            if index.function_of(name) is not index.function_of(statement):
                return None
            if any(isinstance(ancestor, ast.Lambda) for ancestor in index.tree.ancestors(name)):
                return None
            reaching = index.flow.reaching(name)
            if binding in reaching:
                if len(reaching) > 1:
                    return None
                uses.append(name)
        return uses

    def _is_rare(self, use: ast.Name) -> bool:
        return self._index.pace_of(use) is Pace.LOG_INTERVAL

    def _may_read(self, use: ast.Name, loop: StepLoop) -> bool:
        """Whether reading the value here is cheaper than early in the turn, or will be made so by another rule."""
        index = self._index
        pace = index.pace_of(use)
        if pace not in (Pace.STEP, Pace.LOG_INTERVAL):
            return True
        if index.deferrals.is_behind_boundary(use, loop):
            return True
        statement = index.statement_of(use)
        return index.totals.is_addition(statement) or index.filled_lists.is_append(use)


__all__ = ["HeldValue", "HeldValues"]
