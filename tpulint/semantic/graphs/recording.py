"""What code records for the device: statements are followed in the order in which they run, into functions as well."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.graphs.pending import GROWING, Entry, Key, State
from tpulint.semantic.loops.direct_events import SYNCS
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, LoopNode
from tpulint.semantic.syntax.variables import is_in_place, written_by
from tpulint.semantic.values.computed import parts_computed_elsewhere
from tpulint.semantic.values.kinds import Kind
from tpulint.semantic.values.number_keepers import NumberKeepers

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
_DETACHING = frozenset({"detach", "state_dict", "parameters", "item", "tolist", "numpy"})
_OBJECTS = (Kind.MODULE, Kind.OPTIMIZER, Kind.SCHEDULER, Kind.TENSOR, Kind.HOST, Kind.NUMPY, Kind.SCALER)
"""What has methods of its own that run no loop."""

Given: TypeAlias = "Entry | list[Given] | None"
"""What a value waits for: of a tuple, each part."""


class Recording:
    """Keeps the state of what waits to be run while it goes through statements."""

    def __init__(self, index: SemanticIndex, meets: Callable[[LoopNode], bool]) -> None:
        self._index = index
        self._meets = meets
        """Told of every loop that is come to; whether it is followed no further."""
        self.state = State(index)
        self._number_keepers = NumberKeepers(index)
        self._running: list[FunctionNode] = []
        self._returned: list[list[Given]] = []
        self._budget = _BUDGET

    def follow(self, statements: list[ast.stmt]) -> None:
        """Go through statements one behind the other."""
        for statement in statements:
            self._budget -= 1
            if self._budget < 0:
                self.state.waiting.clear()
                return
            self.state.chain.append(statement)
            self._statement(statement)
            self.state.chain.pop()

    def follow_within(self, statements: list[ast.stmt]) -> None:
        """Go through statements that count as part of the one that holds them."""
        for statement in statements:
            self._statement(statement)

    def is_round(self, loop: LoopNode) -> bool:
        """Whether the turns of a loop run other loops, which train or evaluate, to their end."""
        regions, tree = self._index.regions, self._index.tree
        if loop in regions.turn_loops or any(outer in regions.turn_loops for outer in tree.ancestors(loop)):
            return False
        functions = set(regions.functions_in(loop))
        return any(
            tree.encloses(loop, turn) or tree.function_of(turn) in functions for turn in regions.turn_loops
        )  # fmt: skip

    # ---------------------------------------------------------------- statements

    def _inner(self, statements: list[ast.stmt]) -> None:
        """A block whose statements stand for themselves, not for the statement around them."""
        around = self.state.chain.pop()
        self.follow(statements)
        self.state.chain.append(around)

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            return
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            self._loop(statement)
        elif isinstance(statement, ast.If):
            self._calls_in(statement.test)
            before = self.state.waiting
            waiting: dict[Key, Entry] = {}
            for branch in (statement.orelse, statement.body):
                # One that no call runs, `if end is not None:` of a parameter that all leave at None, leaves nothing.
                if not branch or not self._index.flags.rule_out(statement, branch[0]):
                    waiting.update(self._branch(branch, before))
            self.state.waiting = waiting
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
        self.state.waiting = dict(before)
        self._inner(branch)
        leaves = not self._running and branch and isinstance(branch[-1], ast.Break | ast.Return | ast.Raise)
        return {} if leaves else self.state.waiting

    def _loop(self, loop: LoopNode) -> None:
        if self._meets(loop):
            return
        if isinstance(loop, ast.For | ast.AsyncFor):
            self._calls_in(loop.iter)
            self.state.bind(loop.target, None)
        if self.is_round(loop):
            self._inner(loop.body)
        else:
            self.follow_within(loop.body)
        self._inner(loop.orelse)

    def _simple(self, statement: ast.stmt) -> None:
        index, state = self._index, self.state
        if (copied := self._copied_with_gradient(statement)) is not None:
            target, entry = copied
            state.bind_copy(target, entry)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
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

    def _copied_with_gradient(self, statement: ast.stmt) -> tuple[ast.expr, Entry] | None:
        """``sample = model.decode(z).cpu()``: the copy keeps all that a gradient would need, which nobody has run."""
        copy = copied_at_once(statement)
        if copy is None or not isinstance(statement, ast.Assign):
            return None
        records = map(self._index.regions.records_gradient, (*self.state.chain, copy))
        if not all(records) or not self._is_of_module(copy):
            return None
        if _any(self._evaluate(copy, statement)) is None:
            return None
        return statement.targets[0], self.state.entry(statement, self._index.text(copy))

    def _is_of_module(self, node: ast.expr) -> bool:
        """Whether a module, or a method of one, computes a value, which is not detached since."""
        while isinstance(node, ast.Call):
            func = node.func
            if self._index.kind(func) is Kind.MODULE:
                return True
            if not isinstance(func, ast.Attribute) or func.attr in _DETACHING:
                return False
            if self._index.kind(func.value) is Kind.MODULE:
                return True
            node = func.value
        return False

    def _evaluate(self, node: ast.expr, statement: ast.stmt) -> Given:
        if isinstance(node, ast.Tuple):
            return [self._evaluate(item, statement) for item in node.elts]
        if isinstance(node, ast.Call):
            function = self._function(node)
            if function is not None:
                return self._run(node, function, statement)
        self._calls_in(node)
        if isinstance(node, ast.Call) and any(parts := parts_computed_elsewhere(self._index, node)):
            entry = self.state.entry(statement, self._index.text(node))
            return [entry if is_computed else None for is_computed in parts]
        return self.state.of(node, statement)

    def _give(self, target: ast.expr, given: Given) -> None:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if isinstance(given, list) and len(parts) == len(given):
            for item, part in zip(parts, given, strict=True):
                self._give(item, part)
        else:
            self.state.bind(target, _any(given))

    # ---------------------------------------------------------------- calls

    def _calls_in(self, node: ast.expr) -> None:
        """What the calls in an expression do besides giving a value."""
        for inner in (node, *self._index.tree.nodes_in(node, ast.Call, functions=False)):
            if isinstance(inner, ast.Call):
                function = self._function(inner)
                if function is not None:
                    self._run(inner, function, self.state.chain[-1])
                elif self._may_end_step(inner):
                    self.state.waiting.clear()

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
        given = values_given(call)
        return any(index.kind(item) in (Kind.MODULE, Kind.LOADER) for item in given)

    def _call(self, call: ast.Call, statement: ast.stmt) -> None:
        """A call that stands for itself."""
        index, state, func = self._index, self.state, call.func
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
        elif is_in_place(func.attr) and func.attr != "requires_grad_":
            written = written_by(func)
            if index.reads.is_on_device(written):
                state.write(written, state.entry(statement, index.text(written)))

    def _run(self, call: ast.Call, function: FunctionNode, statement: ast.stmt) -> Given:
        """Follow a call, and tell what it gives."""
        state, func = self.state, call.func
        parameters = function.args.args
        receiver = func.value if isinstance(func, ast.Attribute) else None
        given: list[ast.expr | None] = [*call.args]
        if receiver is not None and self._index.tree.class_of(function) is not None:
            given.insert(0, None)
        held: list[tuple[Key, ast.expr]] = []
        # Where other objects of the class keep tensors, this one may keep times: `meter.update(time.time() - end)`.
        keeps_numbers = False
        for at, parameter in enumerate(parameters):
            value = given[at] if at < len(given) else None
            value = value or next((item.value for item in call.keywords if item.arg == parameter.arg), None)
            if at == 0 and receiver is not None and given and given[0] is None:
                keeps_numbers = self._number_keepers.has(receiver)
                held.append((Key(function, parameter.arg, True), receiver))
                continue
            entry = None if value is None else _any(self._evaluate(value, statement))
            if value is not None:
                held.append((Key(function, parameter.arg, True), value))
            if entry is not None:
                state.waiting[Key(function, parameter.arg)] = entry
        self._running.append(function)
        self._returned.append([])
        self.follow(function.body)
        self._running.pop()
        results = self._returned.pop()
        for key, value in () if keeps_numbers else held:
            entry = state.waiting.get(key)
            if entry is not None:
                state.hold(value, entry)
        state.leave(function)
        return None if keeps_numbers else _joined(results)


def copied_at_once(statement: ast.stmt) -> ast.expr | None:
    """What ``sample = model(z).cpu()`` copies to the host and keeps nowhere else."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    copy = statement.value
    is_copy = isinstance(copy, ast.Call) and isinstance(copy.func, ast.Attribute) and copy.func.attr == "cpu"
    is_kept = is_copy and isinstance(statement.targets[0], ast.Name)
    return copy.func.value if is_kept and isinstance(copy, ast.Call) and isinstance(copy.func, ast.Attribute) else None


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
