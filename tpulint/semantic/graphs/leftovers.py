"""Work that waits when a loop or a turn begins: it becomes part of the next step, another graph than the rest."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.graphs.pending import Entry, Key
from tpulint.semantic.graphs.recording import Recording
from tpulint.semantic.loops.direct_events import OPTIMIZER_STEP, SYNCS
from tpulint.semantic.syntax.nodes import FUNCTIONS, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class Leftover(NamedTuple):
    """What one stretch of code between two loops leaves to the second."""

    entries: tuple[Entry, ...]
    """In the order in which they were recorded."""
    sink: LoopNode
    """The loop whose first turn takes them along."""
    around: LoopNode
    """The loop that runs this stretch again and again; the same one where a turn leaves work to the next turn."""
    place: ast.stmt | None
    """The statement behind which a step boundary would run them on their own; None where there is no one place."""


class Leftovers:
    """Follows the statements of every loop that runs step loops or evaluations again and again."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._recording = Recording(index, self._meets)
        self._state = self._recording.state
        self._found: dict[ast.stmt, Leftover] = {}
        self._round: LoopNode | None = None
        self.all = self._find()

    def _find(self) -> list[Leftover]:
        index = self._index
        if not index.kinds.mentions_device or not index.step_loops:
            return []
        for loop in index.tree.loops:
            if self._recording.is_round(loop):
                self._round = loop
                for _ in range(2):  # what the end of a turn leaves is met by the beginning of the next
                    self._recording.follow(loop.body)
                self._state.waiting.clear()
        for loop in index.tree.loops:
            if loop in index.regions.turn_loops and index.regions.boundaries_in(loop):
                self._turn(loop)
        return sorted(self._found.values(), key=lambda found: index.span(found.entries[-1].source))

    def _turn(self, loop: LoopNode) -> None:
        """Note what a turn records behind its boundary, and what then waits for the boundary of the next turn."""
        rest = self._behind_boundary(loop)
        self._round = loop
        self._recording.follow(rest)
        inside, encloses = self._index.tree.inside, self._index.tree.encloses
        for node in inside(loop, functions=False):
            if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load):
                continue
            if not any(encloses(item, node) for item in rest):
                self._state.drop(node)  # gets its next value in front of the boundary
        begins_alike = not self._makes_state(loop)
        left = [
            entry
            for key, entry in self._state.waiting.items()
            if self._changes(loop, entry) or not (begins_alike or self._stays(key, loop))
        ]
        waiting = tuple(dict.fromkeys(left))
        self._state.waiting.clear()
        if waiting and self._are_plain(loop):  # what cures this leaves nothing to the next loop
            place = self._place(waiting, loop) if all(self._is_rare(loop, entry) for entry in waiting) else None
            self._found[waiting[-1].source] = Leftover(waiting, loop, loop, place)

    def _changes(self, loop: LoopNode, entry: Entry) -> bool:
        """Whether what a turn leaves makes another graph: that of a second step is another one anyway.

        By then the optimizer has its state. What only some steps leave is met by later ones.
        """
        return loop in self._index.regions.evaluation_loops or self._is_rare(loop, entry)

    def _is_rare(self, loop: LoopNode, entry: Entry) -> bool:
        """Whether only some turns leave it, of those that come to the boundary."""
        regions = self._index.regions
        gates = {regions.gate_in(item, loop) for item in (*entry.chain, entry.source)}
        return any(gate is not None and not any(map(self._trains, regions.let_through(gate))) for gate in gates)

    def _trains(self, node: ast.AST) -> bool:
        """Whether a statement, or a function that it calls, updates parameters and ends a step: no evaluation does."""
        events = self._index.regions.events.events_in(node)
        return bool(events.updates and events.boundaries)

    def _ends_step(self, statement: ast.stmt, boundaries: list[ast.AST]) -> bool:
        """Whether one of these boundaries stands in a statement; of none, whether it calls a function that trains."""
        if boundaries:
            return any(self._index.tree.encloses(statement, node) for node in boundaries)
        return self._trains(statement)

    def _makes_state(self, loop: LoopNode) -> bool:
        """Whether the very first step of a loop is a graph of its own, since its optimizer makes its state there."""
        index = self._index
        steps = [step for step in index.step_loops if step.node is loop]
        return bool(steps) and loop not in index.regions.evaluation_loops and index.restarts.has_state(steps[0])

    def _runs(self, outer: LoopNode, loop: LoopNode) -> bool:
        tree = self._index.tree
        return tree.encloses(outer, loop) or tree.function_of(loop) in self._index.regions.functions_in(outer)

    def _stays(self, key: Key, loop: LoopNode) -> bool:
        """Whether what every turn leaves to the next may still wait when the loop begins again, if it ever does.

        Else the first step of the second epoch is one graph more: with the state of the optimizer, and nothing left.
        """
        index = self._index
        function = index.tree.function_of(loop)
        is_local = function is not None and key.scope is function
        if is_local and function is not None and index.restarts.is_called_again(function):
            return False
        for around in index.tree.loops:
            if not self._recording.is_round(around) or not self._runs(around, loop):
                continue
            if is_local and not index.tree.encloses(around, loop):
                return False  # a variable of the function that each round calls
            others = (other for other in index.regions.turn_loops if other is not loop and self._runs(around, other))
            if any(map(index.regions.boundaries_in, others)) or self._ends_steps_elsewhere(around, loop):
                return False
        return True

    def _ends_steps_elsewhere(self, around: LoopNode, loop: LoopNode) -> bool:
        """Whether a round calls a function of another file, beside a loop, whose own loops have step boundaries."""
        index = self._index
        for call in index.imported.calls:
            if not index.tree.encloses(around, call) or index.tree.encloses(loop, call):
                continue
            for run in index.imported.all_called(call):
                if run.file.has_turn_loops and isinstance(run.node, FUNCTIONS):
                    regions = run.file.regions
                    loops = (turn for turn in regions.turn_loops if run.file.tree.encloses(run.node, turn))
                    if any(map(regions.boundaries_in, loops)):
                        return True
        return False

    # ---------------------------------------------------------------- loops that are come to

    def _meets(self, loop: LoopNode) -> bool:
        """Whether a loop trains or evaluates: what waits is met by its first turn, and its own turns are told apart."""
        regions = self._index.regions
        if loop not in regions.turn_loops:
            return False
        self._meet(loop)
        if loop in regions.evaluation_loops:
            self._recording.follow_within(self._behind_boundary(loop))
        return True

    def _behind_boundary(self, loop: LoopNode) -> list[ast.stmt]:
        """Statements of a turn that its boundary does not run any more, be it in a function that the turn calls."""
        boundaries = self._index.regions.boundaries_in(loop)
        if not boundaries:
            place: ast.stmt | None = self._index.turns.evaluation_place(loop)
            return loop.body[loop.body.index(place) + 1 :] if place in loop.body else []
        boundaries = [node for node in boundaries if self._index.tree.encloses(loop, node)]
        suite = loop.body
        rest: list[ast.stmt] = []
        while True:
            holders = [at for at, item in enumerate(suite) if self._ends_step(item, boundaries)]
            if not holders:
                return rest
            last = suite[holders[-1]]
            rest = [*suite[holders[-1] + 1 :], *rest]
            # `if len(memory) > size: learn(memory)`, which ends the step, and what stands behind it in the block
            if isinstance(last, ast.If):
                if any(self._ends_step(item, boundaries) for item in last.orelse):
                    return rest
            elif not isinstance(last, ast.With | ast.AsyncWith | ast.Try):
                return rest
            suite = last.body

    def _meet(self, loop: LoopNode) -> None:
        """A loop with step boundaries: its first turn runs all that waits."""
        index, waiting = self._index, self._state.waiting
        for node in index.tree.nodes_in(loop, ast.Name, functions=False):
            if not isinstance(node.ctx, ast.Load):
                self._state.drop(node)  # gets its next value in front of the boundary
        if waiting and self._round is not None and self._are_plain(loop) and not self._reads_all(loop):
            entries = tuple(dict.fromkeys(waiting.values()))
            evaluates = index.regions.evaluation_loops
            known = self._found.get(entries[-1].source)
            # Where a statement leaves work to several loops, the step is what costs most.
            if known is None or (known.sink in evaluates and loop not in evaluates):
                self._found[entries[-1].source] = Leftover(entries, loop, self._round, self._place(entries, loop))
        waiting.clear()

    def _reads_all(self, loop: LoopNode) -> bool:
        """Whether the turns of an evaluation fetch what they compute in front of the boundary.

        What was left is then all that the boundary of the first turn runs, the graph that one before the loop runs.
        """
        index = self._index
        if loop not in index.regions.evaluation_loops:
            return False
        behind = self._behind_boundary(loop)
        for statement in loop.body:
            if statement in behind:
                return False
            for node in (statement, *index.tree.nodes_in(statement, ast.Call, functions=False)):
                functions = index.regions.events.functions_of(node) if isinstance(node, ast.Call) else ()
                if any(index.reads.inside(part) for part in (node, *functions)):
                    return True
        return False

    def _are_plain(self, loop: LoopNode) -> bool:
        """Whether the boundaries of a loop end a step and begin none, as a device loader or a compiled step does."""
        return all(
            isinstance(boundary, ast.Call) and self._index.qualified_name(boundary.func) in (*SYNCS, OPTIMIZER_STEP)
            for boundary in self._index.regions.boundaries_in(loop)
        )

    # ---------------------------------------------------------------- the place of a boundary

    def _place(self, entries: tuple[Entry, ...], loop: LoopNode) -> ast.stmt | None:
        """The statement behind which all that waits has been recorded, in nothing that the turns of the loop run too.

        A boundary in a function that computes the loss would cut each step between its passes.
        """
        tree, sink = self._index.tree, self._state.chain
        run_by_turns = self._index.regions.functions_in(loop)
        chains = [
            tuple(item for item in entry.chain if tree.function_of(item) not in run_by_turns) or entry.chain
            for entry in entries
        ]
        places = [_apart(chain, sink) for chain in chains]
        if any(tree.function_of(place) in run_by_turns for place in places):
            return None
        last = places[-1]
        if last in sink:
            return None  # the statement runs the loop itself: what it is given waits within it
        function = tree.function_of(last)
        others = [place for place in places if tree.function_of(place) is function]
        while not all(any(tree.encloses(item, other) for item in tree.suite_of(last)) for other in others):
            parent = tree.parent(last)
            if not isinstance(parent, ast.If | ast.With | ast.AsyncWith):
                return None
            if any(tree.encloses(parent, statement) for statement in sink):
                return None  # behind a block that holds the loop, a boundary would come too late
            last = parent
        if len(others) < len(places) and tree.parent(last) is not function:
            return None
        return None if isinstance(last, ast.Return) else last


def _apart(chain: tuple[ast.stmt, ...], other: list[ast.stmt]) -> ast.stmt:
    """The first statement of a chain that another chain does not share."""
    for mine, its in zip(chain, other, strict=False):
        if mine is not its:
            return mine
    return chain[-1]
