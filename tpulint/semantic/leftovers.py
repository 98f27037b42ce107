"""Work that waits when a loop or a turn begins: it becomes part of the next step, another graph than the rest."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.events import OPTIMIZER_STEP, SYNCS
from tpulint.semantic.kinds import Kind
from tpulint.semantic.pending import GROWING, Entry, Key, State, root_of
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from tpulint.semantic import SemanticIndex

_DEPTH = 5
_BUDGET = 4000
"""Statements that are followed in one file; past that, nothing more is said."""
_AVERAGING = r"(?i)schedule_?free"
"""Optimizers that are switched between training and evaluation."""
_KNOWN = ("torch.", "builtins.", "math.", "numpy.", "os.", "time.", "copy.", "logging.")


_OBJECTS = (Kind.MODULE, Kind.OPTIMIZER, Kind.SCHEDULER, Kind.TENSOR, Kind.HOST, Kind.NUMPY, Kind.SCALER)
"""What has methods of its own that run no loop."""

Given: TypeAlias = "Entry | list[Given] | None"
"""What a value waits for: of a tuple, each part."""


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
        self._state = State(index)
        self._running: list[FunctionNode] = []
        self._returned: list[list[Given]] = []
        self._found: dict[ast.stmt, Leftover] = {}
        self._budget = _BUDGET
        self._round: LoopNode | None = None
        self.all = self._find()

    def _find(self) -> list[Leftover]:
        index = self._index
        if not index.kinds.mentions_device or not index.step_loops:
            return []
        for loop in index.tree.loops:
            if self._is_round(loop):
                self._round = loop
                for _ in range(2):  # what the end of a turn leaves is met by the beginning of the next
                    self._suite(loop.body)
                self._state.waiting.clear()
        for loop in index.tree.loops:
            if loop in index.regions.turn_loops and index.regions.boundaries_in(loop):
                self._turn(loop)
        return sorted(self._found.values(), key=lambda found: index.span(found.entries[-1].source))

    def _is_round(self, loop: LoopNode) -> bool:
        """Whether the turns of a loop run other loops, which train or evaluate, to their end."""
        regions, tree = self._index.regions, self._index.tree
        if loop in regions.turn_loops or any(outer in regions.turn_loops for outer in tree.ancestors(loop)):
            return False
        functions = set(regions.functions_in(loop))
        return any(
            tree.encloses(loop, turn) or tree.function_of(turn) in functions for turn in regions.turn_loops
        )  # fmt: skip

    def _turn(self, loop: LoopNode) -> None:
        """Note what a turn records behind its boundary, and what then waits for the boundary of the next turn."""
        rest = self._behind_boundary(loop)
        self._round = loop
        self._suite(rest)
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
            place = self._place(waiting) if all(self._is_rare(loop, entry) for entry in waiting) else None
            self._found[waiting[-1].source] = Leftover(waiting, loop, loop, place)

    def _changes(self, loop: LoopNode, entry: Entry) -> bool:
        """Whether what a turn leaves makes another graph: that of a second step is another one anyway.

        By then the optimizer has its state. What only some steps leave is met by later ones.
        """
        return loop in self._index.regions.evaluation_loops or self._is_rare(loop, entry)

    def _is_rare(self, loop: LoopNode, entry: Entry) -> bool:
        """Whether only some turns leave it."""
        gate_in = self._index.regions.gate_in
        return any(gate_in(item, loop) is not None for item in (*entry.chain, entry.source))

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
            if not self._is_round(around) or not self._runs(around, loop):
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

    # ---------------------------------------------------------------- statements

    def _suite(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._budget -= 1
            if self._budget < 0:
                self._state.waiting.clear()
                return
            self._state.chain.append(statement)
            self._statement(statement)
            self._state.chain.pop()

    def _inner(self, statements: list[ast.stmt]) -> None:
        """A block whose statements stand for themselves, not for the statement around them."""
        around = self._state.chain.pop()
        self._suite(statements)
        self._state.chain.append(around)

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            return
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            self._loop(statement)
        elif isinstance(statement, ast.If):
            self._calls_in(statement.test)
            before = self._state.waiting
            waiting: dict[Key, Entry] = {}
            for branch in (statement.orelse, statement.body):
                # One that no call runs, `if end is not None:` of a parameter that all leave at None, leaves nothing.
                if not branch or not self._index.flags.rule_out(statement, branch[0]):
                    waiting.update(self._branch(branch, before))
            self._state.waiting = waiting
        elif isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                self._calls_in(item.context_expr)
            self._inner(statement.body)
        elif isinstance(statement, ast.Try):
            self._inner([*statement.body, *statement.orelse, *statement.finalbody])
        else:
            self._simple(statement)

    def _branch(self, branch: list[ast.stmt], before: dict[Key, Entry]) -> dict[Key, Entry]:
        """What waits behind a branch of an ``if``."""
        self._state.waiting = dict(before)
        self._inner(branch)
        leaves = not self._running and branch and isinstance(branch[-1], ast.Break | ast.Return | ast.Raise)
        return {} if leaves else self._state.waiting

    def _loop(self, loop: LoopNode) -> None:
        regions = self._index.regions
        if loop in regions.turn_loops:
            self._meet(loop)
            if loop in regions.evaluation_loops:
                for statement in self._behind_boundary(loop):
                    self._statement(statement)
            return
        if isinstance(loop, ast.For | ast.AsyncFor):
            self._calls_in(loop.iter)
            self._state.bind(loop.target, None)
        if self._is_round(loop):
            self._inner(loop.body)
        else:
            for statement in loop.body:
                self._statement(statement)
        self._inner(loop.orelse)

    def _behind_boundary(self, loop: LoopNode) -> list[ast.stmt]:
        """Statements of an evaluation's turn that its boundary does not run any more."""
        boundaries = self._index.regions.boundaries_in(loop)
        encloses = self._index.tree.encloses
        if not boundaries:
            place: ast.stmt | None = self._index.turns.evaluation_place(loop)
            return loop.body[loop.body.index(place) + 1 :] if place in loop.body else []
        suite = loop.body
        rest: list[ast.stmt] = []
        while True:
            holders = [at for at, item in enumerate(suite) if any(encloses(item, node) for node in boundaries)]
            if not holders:
                return rest
            last = suite[holders[-1]]
            rest = [*suite[holders[-1] + 1 :], *rest]
            if not isinstance(last, ast.With | ast.AsyncWith | ast.Try):
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
                self._found[entries[-1].source] = Leftover(entries, loop, self._round, self._place(entries))
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

    def _simple(self, statement: ast.stmt) -> None:
        index, state = self._index, self._state
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            given = self._evaluate(statement.value, statement)
            for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                self._give(target, given)
        elif isinstance(statement, ast.AugAssign):
            self._calls_in(statement.value)
            if state.is_on_device(statement.target) or state.is_on_device(statement.value):
                state.bind(statement.target, state.entry(statement, index.text(statement.target)))
        elif isinstance(statement, ast.Delete):
            for target in statement.targets:
                state.bind(target, None)
        elif isinstance(statement, ast.Return):
            given = None if statement.value is None else self._evaluate(statement.value, statement)
            if self._returned:
                self._returned[-1].append(given)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self._call(statement.value, statement)
        else:
            for node in ast.iter_child_nodes(statement):
                if isinstance(node, ast.expr):
                    self._calls_in(node)
        state.settle(statement)

    # ---------------------------------------------------------------- values

    def _evaluate(self, node: ast.expr, statement: ast.stmt) -> Given:
        if isinstance(node, ast.Tuple):
            return [self._evaluate(item, statement) for item in node.elts]
        if isinstance(node, ast.Call):
            function = self._function(node)
            if function is not None:
                return self._run(node, function, statement)
        self._calls_in(node)
        return self._state.of(node, statement)

    def _give(self, target: ast.expr, given: Given) -> None:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if isinstance(given, list) and len(parts) == len(given):
            for item, part in zip(parts, given, strict=True):
                self._give(item, part)
        else:
            self._state.bind(target, _any(given))

    # ---------------------------------------------------------------- calls

    def _calls_in(self, node: ast.expr) -> None:
        """What the calls in an expression do besides giving a value."""
        for inner in (node, *self._index.tree.nodes_in(node, ast.Call, functions=False)):
            if isinstance(inner, ast.Call):
                function = self._function(inner)
                if function is not None:
                    self._run(inner, function, self._state.chain[-1])
                elif self._may_end_step(inner):
                    self._state.waiting.clear()

    def _function(self, call: ast.Call) -> FunctionNode | None:
        """The function of this file that a call runs, and that is followed; a module's forward pass is work."""
        index = self._index
        if index.kind(call.func) is Kind.MODULE:
            return None
        function = index.definitions.function_called(call)
        if function is None or function in self._running or len(self._running) >= _DEPTH:
            return None
        return None if index.kinds.functions.yields(function) else function

    def _may_end_step(self, call: ast.Call) -> bool:
        """Whether a call ends a step, or runs code that nobody sees and that may train or evaluate."""
        index = self._index
        name = index.qualified_name(call.func)
        if name is not None and name.startswith("torch_xla."):
            return not name.endswith((".device", ".xla_device", ".manual_seed"))
        if name is not None and name.startswith(_KNOWN):
            return False
        if name in SYNCS:
            return True
        if isinstance(call.func, ast.Attribute) and index.kind(call.func.value) in _OBJECTS:
            return False
        given = (*call.args, *(keyword.value for keyword in call.keywords))
        return any(index.kind(item) in (Kind.MODULE, Kind.LOADER) for item in given)

    def _call(self, call: ast.Call, statement: ast.stmt) -> None:
        """A call that stands for itself."""
        index, state, func = self._index, self._state, call.func
        function = self._function(call)
        if function is not None:
            self._run(call, function, statement)
            return
        self._calls_in(call)
        if not isinstance(func, ast.Attribute):
            return
        if func.attr in GROWING:
            entry = _any([state.of(item, statement) for item in call.args])
            if entry is not None:
                state.hold(func.value, entry)
        elif func.attr in ("train", "eval") and index.kind(func.value) is Kind.OPTIMIZER and index.mentions(_AVERAGING):
            # They write the parameters: the weights that are trained, or their average.
            state.hold(func.value, state.entry(statement, index.text(call)))
        elif func.attr.endswith("_") and not func.attr.endswith("__") and index.reads.is_on_device(func.value):
            root = root_of(func.value)
            if root is not None and func.attr != "requires_grad_":
                # The variable of a loop over parameters goes on; the parameter stays.
                in_loop = any(binding.kind == "loop" for binding in index.names.bindings(root))
                entry = state.entry(statement, index.text(func.value))
                if in_loop:
                    state.waiting[Key(statement, "", is_holder=True)] = entry
                else:
                    state.bind(root, entry)

    def _run(self, call: ast.Call, function: FunctionNode, statement: ast.stmt) -> Given:
        """Follow a call, and tell what it gives."""
        state, func = self._state, call.func
        parameters = function.args.args
        receiver = func.value if isinstance(func, ast.Attribute) else None
        given: list[ast.expr | None] = [*call.args]
        if receiver is not None and self._index.tree.class_of(function) is not None:
            given.insert(0, None)
        held: list[tuple[Key, ast.expr]] = []
        for at, parameter in enumerate(parameters):
            value = given[at] if at < len(given) else None
            value = value or next((item.value for item in call.keywords if item.arg == parameter.arg), None)
            if at == 0 and receiver is not None and given and given[0] is None:
                held.append((Key(function, parameter.arg, True), receiver))
                continue
            entry = None if value is None else _any(self._evaluate(value, statement))
            if value is not None:
                held.append((Key(function, parameter.arg, True), value))
            if entry is not None:
                state.waiting[Key(function, parameter.arg)] = entry
        self._running.append(function)
        self._returned.append([])
        self._suite(function.body)
        self._running.pop()
        results = self._returned.pop()
        for key, value in held:
            entry = state.waiting.get(key)
            if entry is not None:
                state.hold(value, entry)
        state.leave(function)
        return _joined(results)

    # ---------------------------------------------------------------- the place of a boundary

    def _place(self, entries: tuple[Entry, ...]) -> ast.stmt | None:
        """The statement behind which all that waits has been recorded."""
        tree, sink = self._index.tree, self._state.chain
        places = [_apart(entry.chain, sink) for entry in entries]
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


def _any(given: Given) -> Entry | None:
    """The first of the parts that waits."""
    if given is None or isinstance(given, Entry):
        return given
    return next((found for part in given if (found := _any(part)) is not None), None)


def _joined(results: list[Given]) -> Given:
    """What a function gives that returns one of these: part by part where all have as many."""
    several = [item for item in results if isinstance(item, list)]
    if several and len(several) == len(results) and len({len(item) for item in several}) == 1:
        return [_joined(list(parts)) for parts in zip(*several, strict=True)]
    return next((found for item in results if (found := _any(item)) is not None), None)
