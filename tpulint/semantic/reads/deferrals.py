"""Reads of a step, and which statements can be moved behind its boundary."""

from __future__ import annotations

import ast

from tpulint.semantic.loops.regions import CalledStep, Step
from tpulint.semantic.reads.reads import Read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.graphs.effects import Path


class Deferrals:
    """Answers about the turns of step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def reads_of(self, loop: Step) -> list[Read]:
        """Host reads in the turns of a step loop, those in functions it calls included, in order of position."""
        index = self._index
        found = [read for holder in (loop.node, *loop.functions) for read in index.reads.inside(holder)]
        step_of = index.regions.called_step_of if isinstance(loop, CalledStep) else index.regions.step_loop_of
        mine = {read.node: read for read in found if step_of(read.node) is loop}
        return sorted(mine.values(), key=lambda read: index.span(read.node))

    def movable(self, statements: list[ast.stmt], boundary: ast.stmt) -> list[ast.stmt]:
        """Those of these statements that can move behind the boundary, and what has to move along, in order."""
        suite = self._index.tree.suite_of(boundary)
        front = suite[: suite.index(boundary)]
        wanted = [statement for statement in statements if statement in front]
        # One may have to stay in front of what the next one binds, unless that moves as well.
        together = self._with(wanted[1:], wanted[0], front) if wanted else None
        if together is not None:
            return together
        moved: list[ast.stmt] = []
        for statement in wanted:
            if statement not in moved:
                moved = self._with(moved, statement, front) or moved
        return moved

    def _with(self, moved: list[ast.stmt], statement: ast.stmt, front: list[ast.stmt]) -> list[ast.stmt] | None:
        """One more statement that moves, and what moves along with it; None when it cannot."""
        chosen = {*moved, statement}
        first = min(front.index(item) for item in chosen)
        return self._split(front[first:], chosen, frozenset())

    def _split(
        self, statements: list[ast.stmt], chosen: set[ast.stmt], given: frozenset[Path]
    ) -> list[ast.stmt] | None:
        """What moves, if these do and ``given`` is only there behind the boundary; None when that is not possible."""
        from tpulint.semantic.graphs.effects import meet

        effects = self._index.effects
        moved: list[ast.stmt] = []
        stays: list[ast.stmt] = []
        for item in statements:
            effect = effects.of(item)
            shown = any(effects.of(one).is_output and not effects.of(one).is_record for one in moved)
            along = meet(effect.reads, given | effects.changed_by(moved))
            along |= bool(moved) and effect.is_output and (shown or not effect.is_record)
            (moved if item in chosen or along else stays).append(item)
        for item in moved:
            later = [other for other in stays if statements.index(other) > statements.index(item)]
            leaves = any(map(self._index.tree.may_leave, later))
            if leaves or not effects.of(item).is_movable or effects.clash(item, later, given):
                return None
        return moved

    def may_change(self, statements: list[ast.stmt], nodes: list[ast.expr]) -> bool:
        """Whether statements may change what expressions read, so that these cannot be asked in front of them."""
        from tpulint.semantic.graphs.effects import meet

        return meet(self._index.effects.read_by(nodes), self._index.effects.changed_by(statements))

    def dependents(self, statement: ast.Assign, boundary: ast.stmt) -> list[ast.stmt] | None:
        """Statements in front of the boundary that need the number a statement gives to a variable.

        They can move behind the boundary while the statement itself stays, with the tensor in place of the number. None
        when they cannot move.
        """
        suite = self._index.tree.suite_of(boundary)
        if statement not in suite or not isinstance(statement.targets[0], ast.Name):
            return None
        given = frozenset({(statement.targets[0].id,)})
        between = suite[suite.index(statement) + 1 : suite.index(boundary)]
        if any(self._index.effects.of(item).binds & given or self._index.tree.may_leave(item) for item in between):
            return None
        return self._split(between, set(), given)

    def mutated_between(self, boundary: ast.stmt, statement: ast.stmt) -> set[str]:
        """Names of objects that may change between a boundary and a later statement, in its block or deeper."""
        between = self._between(boundary, statement)
        return {path[0] for item in between for path in self._index.effects.of(item).changes}

    def trains_between(self, boundary: ast.stmt, statement: ast.stmt) -> bool:
        """Whether weights or their gradients may change between a boundary and a later statement."""
        return any(map(self._index.effects.trains, self._between(boundary, statement)))

    def _between(self, boundary: ast.stmt, statement: ast.stmt) -> list[ast.stmt]:
        tree, suite = self._index.tree, self._index.tree.suite_of(boundary)
        between: list[ast.stmt] = []
        while statement not in suite:
            inner = tree.suite_of(statement)
            between += inner[: inner.index(statement)]
            statement = tree.statement_of(tree.parents[statement])
        return between + suite[suite.index(boundary) + 1 : suite.index(statement)]
