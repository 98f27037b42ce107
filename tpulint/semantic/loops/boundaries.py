"""Step boundaries, and on which side of them a line runs."""

from __future__ import annotations

import ast

from tpulint.model import Pace
from tpulint.semantic.loops.direct_events import OPTIMIZER_STEP, SYNCS
from tpulint.semantic.loops.drivers import Driver
from tpulint.semantic.loops.regions import CalledStep, Step
from tpulint.semantic.project.outside import STEP
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 3


class Boundaries:
    """Answers about the turns of step loops and evaluation loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._last_seen: dict[tuple[ast.AST, ast.stmt], bool | None] = {}
        self._places: dict[ast.AST, list[ast.stmt]] = {}

    def has(self, loop: Step) -> bool:
        """Whether a step has a boundary, as far as is known."""
        return loop.call.has_boundary if isinstance(loop, CalledStep) else bool(loop.boundaries)

    def sync_of(self, loop: Step) -> ast.Expr | None:
        """The one statement ``torch_xla.sync()`` that every turn comes to; there may be others within blocks.

        Where a block that opens now and then holds the whole step, the turns with a step count.
        """
        found = [self.sync_at(boundary) for boundary in loop.boundaries]
        events = (*loop.backwards, *loop.updates, *loop.manual_updates)
        plain = [item for item in found if item is not None and self._is_plain(item, loop.node, events)]
        return plain[0] if len(plain) == 1 and None not in found else None

    def sync_of_evaluation(self, node: LoopNode) -> ast.Expr | None:
        """The one statement ``torch_xla.sync()`` that every turn of an evaluation loop comes to."""
        found = [self.sync_at(boundary) for boundary in self._index.regions.boundaries_in(node)]
        plain = [item for item in found if item is not None and self._is_plain(item, node)]
        return plain[0] if len(plain) == 1 and None not in found else None

    def passed_within(self, holder: LoopNode | FunctionNode, loop: Step) -> ast.stmt | None:
        """The last statement of a loop or function that comes to a boundary of a step within it, be it in some turns.

        None where the boundary is a statement there by itself, and where it is not known which it is.
        """
        if isinstance(loop, CalledStep) or not loop.boundaries:
            return None
        found = [statement for statement in holder.body if self._passes_boundary(statement, loop, [])]
        own = [self.sync_at(boundary) for boundary in loop.boundaries]
        return found[-1] if found and found[-1] not in own and None not in own else None

    def sync_at(self, boundary: ast.AST) -> ast.Expr | None:
        """The statement of a boundary that is a call for nothing else (but an update)."""
        statement = self._index.statement_of(boundary)
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None
        if self._index.qualified_name(statement.value.func) in (*SYNCS, OPTIMIZER_STEP):
            return statement
        return None

    def _is_plain(self, statement: ast.Expr, loop: LoopNode | FunctionNode, events: tuple[ast.AST, ...] = ()) -> bool:
        """Whether every turn that goes well, or every one with these events, comes to a statement."""
        tree = self._index.tree
        child: ast.stmt = statement
        holder = tree.parent(child)
        while isinstance(holder, ast.With | ast.AsyncWith | ast.Try | ast.If):
            suite = tree.suite_of(child)
            if isinstance(holder, ast.If):
                if not events or not all(any(tree.encloses(item, event) for item in suite) for event in events):
                    return False
            elif suite is not holder.body:
                return False
            child, holder = holder, tree.parent(holder)
        return holder is loop or isinstance(holder, FUNCTIONS)

    def is_behind(self, node: ast.AST, loop: Step, depth: int = 0) -> bool:
        """Whether a node runs behind the step boundary of its turn; in a loop without one, behind where it belongs.

        What a function reads before it records anything itself stands where the function is called.
        """
        if isinstance(loop, Driver):
            # Where a step has none yet, it belongs at the end of what the loop calls for it.
            ends_step = loop.call.has_boundary or loop.call.turn == STEP
            return ends_step and any(self.stands_behind(node, call) for call in loop.calls)
        if isinstance(loop, CalledStep):
            return loop.call.is_behind
        tree = self._index.tree
        function = tree.function_of(node)
        if function is not None and self._index.regions.is_gated(function):
            if self._passes_within(function, node, loop):
                return True
            return depth < _DEPTH and self._calls_are_behind(function, loop, depth)
        # `criterion(model(x), y)` runs the model in front of what the function does.
        given = [*node.args, *(item.value for item in node.keywords)] if depth and isinstance(node, ast.Call) else []
        fresh = not any(map(self._index.regions.runs_module, given))
        places = self._boundary_places(loop)
        # A call that comes to the boundary itself: what is asked about was not found behind it in what is called.
        if not depth and self._passes_boundary(node, loop, places):
            return True
        child = tree.statement_of(node)
        while True:
            passed = self._passes_in_front(child, loop, places)
            if passed:
                return True
            fresh = fresh and passed is None and not self._is_handed_in_front(child)
            holder = tree.parents[child]
            while isinstance(holder, ast.ExceptHandler | ast.match_case):
                holder = tree.parents[holder]
            if holder is loop.node:
                # An evaluation that a turn begins with now and then: nothing of the step is recorded yet.
                return fresh and depth > 0 and self._index.pace_of(node) is Pace.LOG_INTERVAL
            if isinstance(holder, ast.Module):
                return False
            if isinstance(holder, FUNCTIONS):
                return depth < _DEPTH and fresh and self._calls_are_behind(holder, loop, depth)
            if not isinstance(holder, ast.stmt):
                return False
            child = holder

    def _passes_within(self, function: FunctionNode, node: ast.AST, loop: Step) -> bool:
        """Whether a function comes to a boundary, or to the turns of an evaluation, before it comes to a node.

        What the step has recorded before the function is called has been run there.
        """
        tree, places = self._index.tree, self._boundary_places(loop)
        child: ast.AST = tree.statement_of(node)
        while child is not function:
            if isinstance(child, ast.stmt) and self._passes_in_front(child, loop, places):
                return True
            child = tree.parents[child]
        return False

    def _is_handed_in_front(self, statement: ast.stmt) -> bool:
        """Whether something in front of a statement, in its block, is given a module to run: the step has begun."""
        suite = self._index.tree.suite_of(statement)[: self._index.tree.position_of(statement)]
        return any(isinstance(item, ast.Assign) and self._index.regions.hands_module_on(item) for item in suite)

    def _passes_in_front(self, statement: ast.stmt, loop: Step, places: list[ast.stmt]) -> bool | None:
        """What came last in front of a statement, in its block: the boundary (True), work of the step (False), neither.

        Every statement of the block is looked at once, however many stand behind it and ask.
        """
        suite = self._index.tree.suite_of(statement)
        first = at = self._index.tree.position_of(statement)
        found: bool | None = None
        while at > 0 and (loop.node, suite[at]) not in self._last_seen:
            found = self._passes_or_works(suite[at - 1], loop, places)
            if found is not None:
                break
            at -= 1
        if found is None:
            found = self._last_seen.get((loop.node, suite[at]))
        for behind in suite[at : first + 1]:
            self._last_seen[loop.node, behind] = found
        return found

    def _passes_or_works(self, statement: ast.stmt, loop: Step, places: list[ast.stmt]) -> bool | None:
        if statement in places or self._passes_boundary(statement, loop, places):
            return True
        if self._trains(statement, loop):
            return False
        if not self._index.regions.runs_module(statement):
            return None
        if isinstance(statement, LOOPS):
            return self._ends_turns(statement)
        if isinstance(statement, ast.With | ast.AsyncWith):  # `with torch.no_grad():` around the loop of an evaluation
            inside = (self._passes_or_works(item, loop, places) for item in reversed(statement.body))
            return next((found for found in inside if found is not None), False)
        # What runs now and then, a sample of images, is no part of what the step was recorded for.
        is_rare = isinstance(statement, ast.If) and self._index.pace_of(statement.body[0]) is not Pace.STEP
        return None if is_rare else False

    def _ends_turns(self, inner: LoopNode) -> bool:
        """Whether each turn of a loop within the step comes last to a boundary of its own, or to where one belongs."""
        regions = self._index.regions
        ends = [self._index.statement_of(boundary) for boundary in regions.boundaries_in(inner)]
        if not ends and inner in regions.evaluation_loops:
            ends = [self._index.turns.evaluation_place(inner)]
        for statement in reversed(inner.body):
            if statement in ends:
                return True
            if regions.runs_module(statement):
                return False
        return False

    def _calls_are_behind(self, function: FunctionNode, loop: Step, depth: int) -> bool:
        index = self._index
        calls = index.definitions.calls_of(function)
        if not calls:  # handed on: as a partial, as a parameter
            calls = [call for call in index.calls if function in index.regions.events.functions_of(call)]
        calls = [call for call in calls if index.step_loop_of(call) is loop]
        return bool(calls) and all(self.is_behind(call, loop, depth + 1) for call in calls)

    def _passes_boundary(self, node: ast.AST, loop: Step, places: list[ast.stmt]) -> bool:
        """Whether running a node runs a boundary of the loop, or passes where one belongs, in it or by a call."""
        tree, events = self._index.tree, self._index.regions.events
        if any(tree.encloses(node, boundary) for boundary in loop.boundaries if boundary not in events.in_loaders):
            return True
        holders = {tree.function_of(place) for place in places if not tree.encloses(loop.node, place)}
        for inner in (node, *tree.nodes_in(node, ast.Call, functions=False)):
            if isinstance(inner, ast.Call):
                function = self._index.definitions.function_run(inner)
                if function is None:
                    continue
                passed = [item for item in events.of(function).boundaries if item not in events.in_loaders]
                if passed or not holders.isdisjoint({function, *events.of(function).functions}):
                    return True
        return False

    def _trains(self, statement: ast.stmt, loop: Step) -> bool:
        events = (*loop.backwards, *loop.updates, *loop.manual_updates)
        return any(self._index.tree.encloses(statement, event) for event in events)

    def _boundary_places(self, loop: Step) -> list[ast.stmt]:
        if loop.node not in self._places:
            self._places[loop.node] = [] if loop.boundaries else self._index.turns.boundary_places(loop)
        return self._places[loop.node]

    def stands_behind(self, node: ast.AST, call: ast.AST) -> bool:
        """Whether a node stands behind a call, in the same block or deeper."""
        tree = self._index.tree
        statement = tree.statement_of(call)
        suite = tree.suite_of(statement)
        later = suite[tree.position_of(statement) + 1 :]
        return any(tree.encloses(item, node) for item in later)
