"""Totals kept in variables of which all that happens to them is seen, so that tensors can stand in their place."""

from __future__ import annotations

import ast

from tpulint.model import Span
from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace
from tpulint.semantic.syntax.bindings import Binding, element_of
from tpulint.semantic.syntax.nodes import LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class OwnVariable(NamedTuple):
    """What happens to one, in the loop and around it."""

    start: Binding
    """Where the variable is set to 0, in front of the loop."""
    over: LoopNode
    """The loop behind which the number is needed at last."""
    resets: tuple[ast.expr, ...]
    """Literals that set the variable back to 0 inside the loop, and behind it for the next time."""
    uses: tuple[ast.Name, ...]
    """Places inside the loop that need the number."""
    averages: tuple[ast.AugAssign, ...]
    """Statements that divide the variable itself, which is a number from there to its reset."""
    is_used_behind: bool
    """Whether the number is needed outside of the loop."""


class _Life(NamedTuple):
    """What a variable begins and ends with."""

    start: Binding
    over: LoopNode
    reset: Binding | None
    """Where it is set back behind the loop for the next epoch."""


class OwnVariables:
    """Finds those of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, loop: LoopNode, target: ast.Name, additions: tuple[ast.stmt, ...]) -> OwnVariable | None:
        """The variable that a loop adds to; None where not everything that happens to it is seen."""
        index = self._index
        found = index.names.find_name(target)
        if found is None or found[0] is not index.names.scope_of(loop):
            return None
        life = self._life(loop, found[1])
        start = None if life is None else life.start
        if life is None or start is None or not isinstance(start.statement, ast.stmt):
            return None
        element = None if life.reset is None else element_of(life.reset)
        resets: list[ast.expr] = [] if element is None else [element]
        averaged: list[Span] = []
        averages: list[ast.AugAssign] = []
        for binding in found[1]:
            if not index.tree.encloses(loop, binding.node) or binding.statement in additions:
                continue
            stretch = self._averaged(binding)
            if stretch is not None:
                averaged.append(stretch)
                if isinstance(binding.statement, ast.AugAssign):
                    averages.append(binding.statement)
                continue
            element = element_of(binding)
            if binding.kind != "assign" or element is None or not _is_zero(element):
                return None
            if index.tree.loop_of(binding.statement) is not loop:
                return None
            resets.append(element)
        uses: list[ast.Name] = []
        used_behind = False
        begin, end = index.span(loop)
        for name in index.names.loads(target.id, found[0]):
            if index.function_of(name) is not index.function_of(loop) or index.tree.lambda_of(name) is not None:
                return None  # another function sees the variable, at a time nobody knows
            at = index.span(name).start
            if index.span(start.statement).end <= at < begin:
                return None
            if not begin <= at < end:
                if life.reset is None or self._is_in_front(name, loop, life.reset):
                    used_behind = True
                elif life.reset in index.flow.reaching(name):
                    return None  # the tensor of the next epoch
                continue
            if any(stretch.start <= at < stretch.end for stretch in averaged):
                continue
            if any(index.tree.encloses(statement, name) for statement in additions):
                continue
            if not any(index.tree.encloses(item, name) for item in loop.body):
                return None
            derived = [name] if self._may_read(name) else self._derived_uses(name)
            if derived is None:
                return None
            uses.extend(derived)
        found_uses = tuple(sorted(dict.fromkeys(uses), key=index.span))
        return OwnVariable(start, life.over, tuple(resets), found_uses, tuple(averages), used_behind)

    def _averaged(self, binding: Binding) -> Span | None:
        """Where a variable is a number: from ``total = total / 100``, now and then, to the ``total = 0`` behind it."""
        index, statement = self._index, binding.statement
        if isinstance(statement, ast.AugAssign):
            if not isinstance(statement.op, ast.Div | ast.Mult):
                return None
        elif not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or binding.path:
            return None
        if not index.scalars.is_arithmetic(statement.value, set()) or _is_zero(statement.value):
            return None
        if index.pace_of(statement) is not Pace.LOG_INTERVAL:
            return None
        suite = index.tree.suite_of(statement)
        for later in suite[suite.index(statement) + 1 :]:
            names = later.targets if isinstance(later, ast.Assign) and _is_zero(later.value) else []
            if any(isinstance(name, ast.Name) and name.id == binding.name for name in names):
                between = suite[suite.index(statement) + 1 : suite.index(later)]
                if any(isinstance(node, ast.Break | ast.Continue) for item in between for node in ast.walk(item)):
                    return None  # the number is seen elsewhere, too
                return Span(index.span(statement).end, index.span(later).start)
        return None

    def _life(self, loop: LoopNode, bindings: list[Binding]) -> _Life | None:
        """From the binding to a literal 0 that holds whenever the loop begins, to where the total is over."""
        index = self._index
        begin = index.span(loop).start
        before = [b for b in bindings if b.kind in ("parameter", "import") or index.span(b.node).start < begin]
        if not before:
            return None
        start = before[-1]
        if start.kind != "assign" or not _is_zero(element_of(start)) or not index.flow.dominates(start, loop):
            return None
        outermost = outermost_behind(index, loop, start)
        between = [] if outermost is loop else self._seen_between(loop, outermost, start, bindings)
        if not between:
            return _Life(start, outermost, None)
        reset = self._reset_behind(loop, bindings)
        own = index.tree.loop_of(loop)
        # In front of it, the number is that of the epoch.
        if reset is None or own is not outermost or not all(self._is_in_front(node, loop, reset) for node in between):
            return None
        return _Life(start, loop, reset)

    def _seen_between(
        self, loop: LoopNode, outermost: LoopNode, start: Binding, bindings: list[Binding]
    ) -> list[ast.AST]:
        """Where anything says what a variable holds while the loops around run: it would be a number there.

        What does behind them all has the number again.
        """
        index = self._index
        assert isinstance(start.node, ast.Name)
        end = index.span(outermost).end
        loads = index.names.loads(start.name, index.names.scope_of(start.node))
        mentions = (*loads, *(binding.node for binding in bindings if binding is not start))
        return [node for node in mentions if not index.tree.encloses(loop, node) and index.span(node).start < end]

    def _reset_behind(self, loop: LoopNode, bindings: list[Binding]) -> Binding | None:
        """The binding to a literal 0 that every way comes to behind a loop, in its block."""
        index = self._index
        suite = index.tree.suite_of(loop)
        rest = suite[suite.index(loop) + 1 :]
        for at, statement in enumerate(rest):
            for binding in bindings:
                if binding.statement is statement and binding.kind == "assign" and _is_zero(element_of(binding)):
                    return None if any(map(index.tree.may_leave, rest[:at])) else binding
        return None

    def _is_in_front(self, node: ast.AST, loop: LoopNode, reset: Binding) -> bool:
        """Whether a node stands between a loop and the binding that sets a total back, or is the latter."""
        span = self._index.span
        return node is reset.node or (
            span(loop).end <= span(node).start < span(reset.statement).start and not _is_bound(node)
        )

    def _may_read(self, use: ast.Name) -> bool:
        """Whether reading the total here costs no more than what was read before."""
        index = self._index
        if index.pace_of(use) is Pace.LOG_INTERVAL or isinstance(index.statement_of(use), ast.Return):
            return True
        for ancestor in index.tree.ancestors(use):
            if isinstance(ancestor, ast.Call) and index.reads.is_output(ancestor):
                return True
            if isinstance(ancestor, ast.stmt):
                return index.shown_texts.is_shown(ancestor)
        return False

    def _derived_uses(self, use: ast.Name) -> list[ast.Name] | None:
        """Uses of a variable computed from the total, where they are all that becomes of it: ``mean = total / n``."""
        index = self._index
        statement = index.statement_of(use)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or not index.scalars.is_arithmetic(statement.value, set()):
            return None
        if not is_operand(index, use, statement):
            return None
        uses = index.held_values.uses_of(statement, target)
        return uses if uses and all(self._may_read(one) for one in uses) else None


def outermost_behind(index: SemanticIndex, loop: LoopNode, start: Binding) -> LoopNode:
    """The loop that a total starts in front of: in front of an inner one it would start anew in every epoch."""
    while (outer := index.tree.loop_of(loop)) is not None and not index.tree.encloses(outer, start.statement):
        loop = outer
    return loop


def _is_bound(node: ast.AST) -> bool:
    return not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load)


def is_operand(index: SemanticIndex, use: ast.expr, statement: ast.stmt) -> bool:
    """Whether only arithmetic lies between a name and its statement."""
    for ancestor in index.tree.ancestors(use):
        if ancestor is statement:
            return True
        if not isinstance(ancestor, ast.BinOp | ast.UnaryOp):
            return False
    return False


def _is_zero(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 0
