"""Numbers read into a variable early in a turn and needed late: ``value = loss.item()``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace, Step
from tpulint.semantic.reads.reads import Read, Use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.totals.meters import Metered


class HeldValue(NamedTuple):
    """A variable that can hold the tensor instead of its value."""

    statement: ast.Assign
    reads: tuple[Read, ...]
    uses: tuple[ast.Name, ...]
    """Where the number is needed; reading it there costs less than reading it early."""
    mixed: frozenset[ast.Name] = frozenset()
    """Those behind the loop, where the variable still holds its first number when the loop had no turns."""
    meters: tuple[Metered, ...] = ()
    """What else takes the tensor as it is."""


class HeldValues:
    """Finds them in step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, read: Read, loop: Step) -> HeldValue | None:
        """The variable a read is given to, where all its uses can read it themselves."""
        index = self._index
        statement = index.statement_of(read.node)
        if not self.is_holdable(read) or not isinstance(statement, ast.Assign):
            return None
        if not isinstance(statement.targets[0], ast.Name):
            return None
        reads = index.reads.inside(statement)
        nodes = {item.node for item in reads}
        mixed = self._may_hold_number(statement) if statement.value in nodes else frozenset()
        uses = self.uses_of(statement, statement.targets[0], mixed)
        if not uses:
            return None
        metered = self._metered(uses)
        others = [use for use in uses if use not in metered]
        if all(map(self.is_rare, others)):
            uses = others
        else:  # the number is there in every step
            metered = {}
        is_late = index.boundaries.is_behind(statement, loop)
        # Arithmetic behind a boundary is a graph of its own; one that is still to be set comes behind that.
        is_plain = statement.value in nodes or not index.boundaries.has(loop)
        if is_late and not (is_plain and all(self.is_rare(use) or self._may_wait(use) for use in uses)):
            return None
        if not all(self._may_read(use, loop) for use in uses):
            return None
        return HeldValue(statement, tuple(reads), tuple(uses), mixed, tuple(metered.values()))

    def _may_hold_number(self, statement: ast.Assign) -> frozenset[ast.Name]:
        """Uses behind the loop of a step that see what it gives a variable last, or the number before the loop."""
        index, target = self._index, statement.targets[0]
        loop = index.tree.loop_of(statement)
        if loop is None or not isinstance(target, ast.Name):
            return frozenset()
        found: set[ast.Name] = set()
        for name in index.names.loads(target.id, index.names.scope_of(target)):
            others = [b for b in index.flow.reaching(name) if b.node is not target]
            if (
                others
                and not index.tree.encloses(loop, name)
                and all(isinstance(b.value, ast.Constant) and type(b.value.value) is float for b in others)
            ):
                found.add(name)
        return frozenset(found)

    def added_up(self, read: Read) -> HeldValue | None:
        """The variable a read of an evaluation batch is given to, where all its uses collect it or add it up."""
        index = self._index
        statement = index.statement_of(read.node)
        if not self.is_holdable(read) or not isinstance(statement, ast.Assign):
            return None
        uses = self.uses_of(statement, statement.targets[0]) if isinstance(statement.targets[0], ast.Name) else None
        metered = self._metered(uses or [])
        rest = [use for use in uses or [] if use not in metered]
        if not uses or not all(
            index.totals.accepts(use) or index.filled_lists.accepts(use) or self._may_wait(use) for use in rest
        ):
            return None
        reads = tuple(index.reads.inside(statement))
        return HeldValue(statement, reads, tuple(rest), meters=tuple(metered.values()))

    def _metered(self, uses: list[ast.Name]) -> dict[ast.Name, Metered]:
        """Those uses that give the value to a meter, which can hold the tensor instead."""
        meters = self._index.meters
        return {use: metered for use in uses if (metered := meters.given(use)) is not None}

    def is_holdable(self, read: Read) -> bool:
        """Whether a statement only gives the number, or arithmetic on it, to a variable."""
        index = self._index
        statement = index.statement_of(read.node)
        if read.use is not Use.NAME or not isinstance(statement, ast.Assign):
            return False
        reads = index.reads.inside(statement)
        nodes = {item.node for item in reads}
        scalars = index.scalars
        return all(scalars.is_number(item) for item in reads) and scalars.is_arithmetic(statement.value, nodes)

    def uses_of(
        self, statement: ast.Assign, target: ast.Name, mixed: frozenset[ast.Name] = frozenset()
    ) -> list[ast.Name] | None:
        """All uses of the value a statement gives a variable; None when not all are seen or some may see another."""
        index = self._index
        scope = index.names.scope_of(target)
        found = index.names.find(target.id, scope)
        if found is None or found[0] is not scope:
            return None
        binding = next((b for b in found[1] if b.node is target), None)
        added = [b.node for b in found[1] if b.kind == "augment"]
        # `total = 0.0` and `total += loss` in front of it, in the same turn, are not given the number.
        if any(not isinstance(name, ast.Name) or binding in index.flow.reaching(name) for name in added):
            return None
        uses: list[ast.Name] = []
        for name in index.names.loads(target.id, scope):
            if index.function_of(name) is not index.function_of(statement) or index.tree.lambda_of(name) is not None:
                return None
            reaching = index.flow.reaching(name)
            if binding in reaching:
                if len(reaching) > 1 and name not in mixed:
                    return None
                if not self._is_compared_with_none(name):
                    uses.append(name)
        if added and not all(map(self.is_rare, uses)):
            return None  # the sum is read where it is complete
        return uses

    def _is_compared_with_none(self, use: ast.Name) -> bool:
        """``value is not None``: needs no number, whatever is kept."""
        test = self._index.parent(use)
        return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot)

    def is_rare(self, use: ast.Name) -> bool:
        """Whether the number is needed less often than in every step, or only to be added up or collected."""
        index = self._index
        return index.pace_of(use) is not Pace.STEP or index.totals.accepts(use) or index.filled_lists.accepts(use)

    def _may_wait(self, use: ast.Name) -> bool:
        """Whether the number is given to a meter that can as well read the tensor when it is looked at."""
        from tpulint.semantic.totals.deferrable_meters import deferrable_meter

        holder = self._index.parent(use)
        call = self._index.parent(holder) if isinstance(holder, ast.keyword) else holder
        if not isinstance(call, ast.Call) or use is call.func:
            return False
        return deferrable_meter(self._index, call, as_numbers=True, held=frozenset({use})) is not None

    def _may_read(self, use: ast.Name, loop: Step) -> bool:
        """Whether reading the value here is cheaper than early in the turn, or will be made so by another rule."""
        index = self._index
        pace = index.pace_of(use)
        if pace not in (Pace.STEP, Pace.LOG_INTERVAL):
            return True
        if index.boundaries.is_behind(use, loop):
            return True
        return index.totals.accepts(use) or index.filled_lists.accepts(use)
