"""One turn of a loop: where its step boundary belongs."""

from __future__ import annotations

import ast

from tpulint.semantic.graphs.statement_work import Work
from tpulint.semantic.loops.regions import Step
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class Turns:
    """Answers about the loops of one file. Lazy, memoised."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self._reads = index.reads
        self._work = index.statement_work
        self._boundary_places: dict[Step, list[ast.stmt]] = {}

    def boundary_places(self, loop: Step) -> list[ast.stmt]:
        """Statements behind which the step boundary of a step loop belongs; empty when that cannot be told."""
        if loop not in self._boundary_places:
            self._boundary_places[loop] = self._find_places(loop)
        return self._boundary_places[loop]

    def _find_places(self, loop: Step) -> list[ast.stmt]:
        events = [*loop.updates, *loop.manual_updates]
        functions = {self._tree.function_of(event) for event in events}
        own = loop.node if isinstance(loop.node, FUNCTIONS) else self._tree.function_of(loop.node)
        # A function that a turn defines updates where it is called, not where it stands.
        inside = [
            event for event in events if self._tree.encloses(loop.node, event) if self._tree.function_of(event) is own
        ]
        if len(inside) == len(events):
            gated = self._gated_suite(loop, inside)
            if gated is not None:
                return self._places(gated, self._last(gated, events))
            return self._places(loop.node.body, self._last(loop.node.body, events))
        holders = [
            statement
            for statement in loop.node.body
            if not isinstance(statement, FUNCTIONS)
            if any(self._tree.encloses(statement, event) for event in inside)
            or self._index.regions.updates_in(statement)
        ]
        if holders and _always_returns(holders[-1]):
            return self._places_of_returned(holders[-1], events)
        function = functions.pop()
        if not inside and not functions and function is not None:
            anchor = self._last(function.body, events)
            if anchor is None or not holders or not self._leaves_work(function, anchor, loop.node, holders):
                return self._places(function.body, anchor)
        return self._places(loop.node.body, holders[-1] if holders else None)

    def _places_of_returned(self, last: ast.stmt, events: list[ast.AST]) -> list[ast.stmt]:
        """Behind a statement that returns nothing runs: the functions that it calls end their steps themselves."""
        called = dict.fromkeys(self._tree.function_of(event) for event in events)
        places = self._inner_places(last)
        for function in called:
            if function is not None and function is not self._tree.function_of(last):
                places += self._places(function.body, self._last(function.body, events))
        return places

    def _gated_suite(self, loop: Step, events: list[ast.AST]) -> list[ast.stmt] | None:
        """The block that holds the whole step and opens every n-th turn, where the other turns read their own results.

        The work of those turns is run by their reads; a boundary at their end would run it again. So it would in
        front of the first step of a game: ``if step > learning_starts`` holds the step, turns read their action above.
        """
        interval = self._index.regions.gate_in(events[0], loop.node)
        for gate in self._tree.ancestors(events[0]):
            if gate is loop.node:
                break
            branch = self._whole_branch(gate, (*events, *loop.backwards)) if isinstance(gate, ast.If) else None
            if branch is not None and (gate is interval or gate in loop.node.body):
                outside = [
                    read.node for read in self._reads.inside(loop.node)
                    if not self._tree.encloses(gate, read.node) and self._index.regions.gate_of(read.node) is None
                ]  # fmt: skip
                before = all(self._tree.span(node).start < self._tree.span(gate).start for node in outside)
                return branch if outside and (gate is interval or before) else None
        return None

    def _whole_branch(self, gate: ast.If, step: tuple[ast.AST, ...]) -> list[ast.stmt] | None:
        """The branch that holds a whole step."""
        branches = (gate.body, gate.orelse)
        return next((b for b in branches if all(any(self._tree.encloses(i, event) for i in b) for event in step)), None)

    def _leaves_work(
        self, function: FunctionNode, update: ast.stmt, loop: LoopNode | FunctionNode, holders: list[ast.stmt]
    ) -> bool:
        """Whether the loop goes on recording for the device behind a function without reads behind its update.

        With what that returns, or with the next update: a turn that updates twice is one step.
        """
        rest = function.body[function.body.index(update) + 1 :]
        if any(self._reads.inside(item) for item in rest):
            return False
        return len(holders) > 1 or self._forward(loop.body, holders[0]) is not holders[0]

    def evaluation_place(self, loop: LoopNode) -> ast.stmt:
        """Statement of the body behind which the boundary of an evaluation loop belongs."""
        runs = [at for at, statement in enumerate(loop.body) if self._index.regions.runs_module(statement)]
        first = runs[-1] if runs else len(loop.body) - 1
        return self._forward(loop.body, loop.body[first])

    def _last(self, suite: list[ast.stmt], events: list[ast.AST]) -> ast.stmt | None:
        holders = [statement for statement in suite if any(self._tree.encloses(statement, event) for event in events)]
        return holders[-1] if holders else None

    def _places(self, suite: list[ast.stmt], anchor: ast.stmt | None) -> list[ast.stmt]:
        if anchor is None:
            return []
        outer = self._forward(suite, anchor)
        # A block that updates and goes on with the next turn never comes to the boundary behind it.
        early = [
            place
            for statement in suite[: suite.index(anchor)]
            if isinstance(statement, ast.If) and self._skips(statement)
            for place in self._inner_places(statement)
        ]
        is_block = isinstance(anchor, ast.If | ast.With | ast.AsyncWith | ast.Try)
        if not is_block or self._work.of(anchor) is not Work.READ:
            return [*early, outer]
        # The update stands in a block that also reads: there the boundary has to come before the reads.
        inner = self._inner_places(anchor)
        if inner and (self._always_comes_to(anchor) or _always_returns(anchor)):
            return [*early, *inner]
        front = suite[: suite.index(anchor)]
        is_all = outer is anchor and isinstance(anchor, ast.If) and self._ends_all_branches(anchor)
        if is_all and not any(map(self._begins_step, front)):
            return [*early, *inner]
        return [*early, *inner, outer]

    def _begins_step(self, statement: ast.stmt) -> bool:
        regions = self._index.regions
        return regions.runs_module(statement) or bool(regions.events.events_in(statement).backwards)

    def _ends_all_branches(self, anchor: ast.If) -> bool:
        """Whether each branch that holds a step has a read behind it, and so a boundary of its own."""
        for block in (anchor.body, anchor.orelse):
            if len(block) == 1 and isinstance(block[0], ast.If):
                if not self._ends_all_branches(block[0]):
                    return False
                continue
            holders = [statement for statement in block if self._index.regions.updates_in(statement)]
            if not holders and any(map(self._begins_step, block)):
                return False
            if not holders:
                continue
            rest = block[block.index(holders[-1]) + 1 :]
            if isinstance(holders[-1], ast.If | ast.With | ast.Try) or not any(map(self._reads.inside, rest)):
                return False
        return True

    def _always_comes_to(self, anchor: ast.stmt) -> bool:
        """Whether a turn that goes well runs the body of a block, and all its updates with it."""
        if isinstance(anchor, ast.Try):
            return not any(self._index.regions.updates_in(item) for handler in anchor.handlers for item in handler.body)
        return isinstance(anchor, ast.With | ast.AsyncWith)

    def _skips(self, statement: ast.If) -> bool:
        return any(block and isinstance(block[-1], ast.Continue) for block in (statement.body, statement.orelse))

    def _inner_places(self, anchor: ast.stmt) -> list[ast.stmt]:
        """Places within the blocks of a compound statement that hold an update with a read or evaluation behind it."""
        result = []
        for field in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] = getattr(anchor, field, None) or []
            holders = [statement for statement in block if self._index.regions.updates_in(statement)]
            if not holders:
                continue
            at = block.index(holders[-1])
            if isinstance(holders[-1], ast.If | ast.With | ast.Try) and self._work.of(holders[-1]) is Work.READ:
                nested = self._inner_places(holders[-1])
                own = nested and isinstance(holders[-1], ast.If) and self._always_comes_to(anchor)
                result.extend([*nested, self._forward(block, holders[-1])] if own else nested)
            elif isinstance(holders[-1], ast.Return):
                continue  # what it calls ends the step
            elif isinstance(block[-1], ast.Continue | ast.Return) or any(
                self._reads.inside(item) or self._evaluates(item) for item in block[at + 1 :]
            ):
                result.append(self._forward(block, holders[-1]))
        return result

    def _evaluates(self, statement: ast.stmt) -> bool:
        """Whether a statement runs the loop of an evaluation, which an update left pending would run along with."""
        events = self._index.regions.events
        calls = self._tree.nodes_in(statement, ast.Call, functions=False)
        direct = [one for call in calls if isinstance(call, ast.Call) for one in events.functions_of(call)]
        called = {*direct, *(one for function in direct for one in events.of(function).functions)}
        return any(
            self._tree.encloses(statement, loop) or self._tree.function_of(loop) in called
            for loop in self._index.regions.evaluation_loops
        )

    def _forward(self, suite: list[ast.stmt], anchor: ast.stmt) -> ast.stmt:
        """The last of the statements from ``anchor`` on that still record work, with no read in between."""
        place = anchor
        for statement in suite[suite.index(anchor) + 1 :]:
            work = self._work.of(statement)
            if work is Work.READ:
                break
            if work is Work.DEVICE:
                place = statement
        return place


def _always_returns(statement: ast.stmt) -> bool:
    """Whether nothing behind a statement runs, since it returns on every way."""
    if isinstance(statement, ast.If):
        blocks = (statement.body, statement.orelse)
        return all(block and _always_returns(block[-1]) for block in blocks)
    return isinstance(statement, ast.Return)
