"""Running totals of a loop that are kept on the host, ``total += loss.item()``, or start there: ``total += loss``."""

from __future__ import annotations

import ast
from enum import Enum

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace
from tpulint.semantic.reads.reads import Read, adds_to_itself
from tpulint.semantic.syntax.bindings import element_of
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.totals.onlookers import has_onlookers
from tpulint.semantic.totals.own_variables import OwnVariable, OwnVariables, is_operand
from tpulint.semantic.values.kinds import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class Home(Enum):
    """Where the sum can be kept on the device."""

    VARIABLE = "in the variable itself, which starts anew with the loop"
    INNER_VARIABLE = "in the variable itself, of a loop within a step"
    NEW_VARIABLE = "in a new variable, added to the target behind the loop"
    TENSOR = "in the target, which is a tensor on the device already"


class Total(NamedTuple):
    """One total and everything that must change when it moves to the device."""

    loop: LoopNode
    target: ast.expr
    """What is added to, as written in the first addition."""
    additions: tuple[ast.stmt, ...]
    reads: tuple[Read, ...]
    """All host reads in the additions."""
    is_count: bool
    """Whether only whole numbers are added."""
    home: Home
    own: OwnVariable | None = None
    """What happens to the variable where the sum is kept in it."""


class Totals:
    """Finds running totals."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._variables = OwnVariables(index)
        self._memo: dict[LoopNode, list[Total]] = {}
        self._loops: dict[LoopNode, str] | None = None

    @property
    def loops(self) -> dict[LoopNode, str]:
        """Loops that run in steps or evaluation, with what a turn of theirs belongs to."""
        if self._loops is None:
            regions = self._index.regions
            names = {Pace.STEP: "step", Pace.LOG_INTERVAL: "", Pace.EVALUATION: "evaluation batch"}
            self._loops = {}
            for loop in self._index.tree.loops if regions.turn_loops else ():
                if loop in regions.evaluation_loops:
                    self._loops[loop] = "evaluation batch"
                elif loop in regions.turn_loops:
                    self._loops[loop] = "step"
                elif (pace := regions.pace_of(loop)) is not None and (name := names.get(pace)):
                    self._loops[loop] = name
        return self._loops

    def of(self, loop: LoopNode) -> list[Total]:
        """Totals of a loop that can move to the device, in order of position."""
        if loop not in self._memo:
            self._memo[loop] = self._find(loop)
        return self._memo[loop]

    def of_tensors(self, loop: LoopNode, additions: tuple[ast.stmt, ...]) -> Total | None:
        """The total that additions of device tensors of one number make; None where it could not start as a tensor."""
        index, target = self._index, added_to(additions[0])
        if not isinstance(target, ast.Name) or self._reads_all_variables(loop) or has_onlookers(index, loop, target):
            return None
        own = self._variables.of(loop, target, additions)
        if own is None or any(index.tree.loop_of(statement) is not loop for statement in additions):
            return None
        types, number = index.number_types, element_of(own.start)
        terms = [term for statement in additions if (term := _term(statement, target)) is not None]
        if len(terms) < len(additions) or not all(map(index.scalars.is_scalar, terms)):
            return None
        # A sum that starts with 0, and not with 0.0, has whole numbers if its terms do, and may be shown as such.
        is_whole = isinstance(number, ast.Constant) and isinstance(number.value, int)
        is_count = is_whole and all(map(types.is_integer, terms))
        if is_whole and not is_count and not all(map(types.is_floating, terms)):
            return None
        return Total(loop, target, additions, (), is_count, Home.VARIABLE, own)

    def accepts(self, use: ast.expr) -> bool:
        """Whether a name is added to a total that could move to the device if the name stood for a tensor."""
        index = self._index
        statement = index.statement_of(use)
        target, loop = added_to(statement), index.tree.loop_of(statement)
        if target is None or loop not in self.loops or not is_operand(index, use, statement):
            return False
        total = Total(loop, target, (statement,), (), False, Home.NEW_VARIABLE)
        if self._is_device_tensor(target):
            return True
        if isinstance(target, ast.Name) and self._variables.of(loop, target, total.additions) is not None:
            return True
        return isinstance(statement, ast.AugAssign) and self._can_be_added_behind(total)

    def _find(self, loop: LoopNode) -> list[Total]:
        index = self._index
        groups: dict[str, list[ast.stmt]] = {}
        for node in index.tree.nodes_in(loop, ast.AugAssign, ast.Assign, functions=False):
            target = added_to(node)
            if target is None or index.tree.loop_of(node) is not loop:
                continue
            assert isinstance(node, ast.AugAssign | ast.Assign)
            if index.reads.inside(node.value):
                groups.setdefault(index.text(target), []).append(node)
        totals = [self._total(loop, sorted(additions, key=index.span)) for additions in groups.values()]
        found = [total for total in totals if total is not None]
        if len(found) < len(totals):
            # Its number is read in every step with that which cannot move: alone, it would be another transfer.
            found = [total for total in found if not self._is_needed_in_step(total)]
        return sorted(found, key=lambda total: index.span(total.target))

    def _is_needed_in_step(self, total: Total) -> bool:
        uses = () if total.own is None else total.own.uses
        return any(self._index.pace_of(use) is Pace.STEP for use in uses)

    # ---------------------------------------------------------------- one total

    def _total(self, loop: LoopNode, additions: list[ast.stmt]) -> Total | None:
        index = self._index
        target = added_to(additions[0])
        assert target is not None
        if self._reads_all_variables(loop) or has_onlookers(index, loop, target):
            return None
        reads: list[Read] = []
        for statement in additions:
            assert isinstance(statement, ast.AugAssign | ast.Assign)
            found = index.reads.inside(statement)
            if not index.scalars.is_arithmetic(statement.value, {read.node for read in found}):
                return None
            reads.extend(found)
        if not all(index.scalars.is_number(read) for read in reads):
            return None
        counts = all(self._adds_integer(statement) for statement in additions)
        total = Total(loop, target, tuple(additions), tuple(reads), counts, Home.NEW_VARIABLE)
        if self._is_device_tensor(target):
            return total._replace(home=Home.TENSOR)
        if isinstance(target, ast.Name):
            own = self._variables.of(loop, target, total.additions)
            if own is not None:
                is_inner = loop not in index.regions.turn_loops
                return total._replace(home=Home.INNER_VARIABLE if is_inner else Home.VARIABLE, own=own)
        if any(isinstance(statement, ast.Assign) for statement in additions):
            return None
        return total if self._can_be_added_behind(total) else None

    def _reads_all_variables(self, loop: LoopNode) -> bool:
        """``"total {total:.3f}".format(**locals())``"""
        function = self._index.function_of(loop)
        return any(self._index.function_of(call) is function for call in self._index.names.calls_reading_any_variable())

    def _adds_integer(self, statement: ast.stmt) -> bool:
        assert isinstance(statement, ast.AugAssign | ast.Assign)
        target = added_to(statement)
        tensors = {read.node: read.tensor for read in self._index.reads.inside(statement)}

        def integer(node: ast.expr) -> bool:
            if node in tensors:
                casts = isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "builtins.float"
                return not casts and self._index.number_types.is_integer(tensors[node])
            if isinstance(node, ast.BinOp):
                plain = isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
                return plain and integer(node.left) and integer(node.right)
            if isinstance(node, ast.Name) and isinstance(target, ast.Name) and node.id == target.id:
                return True
            return isinstance(node, ast.Constant) and isinstance(node.value, int)

        return integer(statement.value)

    # ---------------------------------------------------------------- where the variable lives

    def _is_device_tensor(self, target: ast.expr) -> bool:
        index = self._index
        if isinstance(target, ast.Subscript | ast.Attribute):
            value = index.value(target.value)
            return isinstance(target, ast.Subscript) and value.kind is Kind.TENSOR and value.side is Side.DEVICE
        if isinstance(target, ast.Name):
            found = [b for b in index.names.bindings(target) if b.kind == "assign"]
            values = [index.kinds.binding_value(binding) for binding in found]
            return bool(values) and all(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values)
        return False

    def _can_be_added_behind(self, total: Total) -> bool:
        return self._is_unused_inside(total) and not self._may_be_missing(total)

    def _may_be_missing(self, total: Total) -> bool:
        """Whether only branches set the target and add to it: ``if audio: total = 0`` in front of the loop."""
        index, loop, target = self._index, total.loop, total.target
        if any(self._is_in_every_turn(statement, loop) for statement in total.additions):
            return False
        begin, scope = index.span(loop).start, index.names.scope_of(loop)
        if isinstance(target, ast.Name):
            found = index.names.find_name(target)
            if found is None or found[0] is not scope:
                return False
            return not index.flow.is_bound([one for one in found[1] if index.span(one.node).start < begin], loop)
        text, here = index.text(target), scope.node
        starts = [
            node
            for node in index.tree.nodes_in(here, ast.Assign, functions=False)
            if index.span(node).end <= begin and any(index.text(item) == text for item in node.targets)
        ]
        return bool(starts) and not any(index.tree.stands_before(node, loop) for node in starts)

    def _is_in_every_turn(self, statement: ast.stmt, loop: LoopNode) -> bool:
        holder = self._index.parent(statement)
        while isinstance(holder, ast.With | ast.AsyncWith):
            holder = self._index.parent(holder)
        return holder is loop

    def _is_unused_inside(self, total: Total) -> bool:
        """Whether nothing in the loop looks at the target, so that a variable of its own can stand in for it."""
        index, target = self._index, total.target
        name = last_name(target.value if isinstance(target, ast.Subscript) else target)
        if isinstance(target, ast.Name) and self._is_seen_by_lambda(target):
            return False
        if not name or (isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant)):
            return False
        # What is added may depend on the sum, as that to a running mean does: `mean += (loss.item() - mean) / n`.
        added = [item.target if isinstance(item, ast.AugAssign) else item for item in total.additions]
        regions: list[ast.AST] = [total.loop, *index.regions.functions_in(total.loop)]
        for region in regions:
            for node in index.tree.inside(region, functions=False):
                if isinstance(node, ast.Attribute):
                    regions += [item for item in index.definitions.properties(node.attr) if item not in regions]
                if isinstance(node, ast.Return) and region is total.loop:
                    return False
                if last_name(node) != name or any(index.tree.encloses(item, node) for item in added):
                    continue
                if not self._is_of_other_key(target, node):
                    return False
        return True

    def _is_of_other_key(self, target: ast.expr, node: ast.AST) -> bool:
        """Whether a container that a total is an entry of is only asked for another of its entries: ``sums["b"]``."""
        index, entry = self._index, self._index.parent(node)
        if not isinstance(target, ast.Subscript) or not isinstance(entry, ast.Subscript) or entry.value is not node:
            return False
        keys = [item.slice.value if isinstance(item.slice, ast.Constant) else None for item in (target, entry)]
        is_same = index.text(entry.value) == index.text(target.value)
        return is_same and None not in keys and keys[0] != keys[1]

    def _is_seen_by_lambda(self, target: ast.Name) -> bool:
        """Whether a lambda looks at a variable: it may be called in the loop, by anybody."""
        index = self._index
        return any(index.tree.lambda_of(use) is not None for use in index.names.loads_of(target))


def _term(statement: ast.stmt, target: ast.Name) -> ast.expr | None:
    """What a statement adds to a variable: ``loss`` of ``total += loss`` and ``total = total + loss``."""
    value = statement.value if isinstance(statement, ast.AugAssign | ast.Assign) else None
    if isinstance(statement, ast.AugAssign) or not isinstance(value, ast.BinOp):
        return value
    sides = [side for side in (value.left, value.right) if not (isinstance(side, ast.Name) and side.id == target.id)]
    return sides[0] if len(sides) == 1 else None


def added_to(node: ast.AST) -> ast.expr | None:
    """What a statement adds to."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.target
    if isinstance(node, ast.Assign) and adds_to_itself(node):
        return node.targets[0]
    return None
