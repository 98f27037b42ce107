"""Evaluation loops: loops that run a model batch by batch and train nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from tpulint.semantic.batches.batch_loops import BatchLoops
from tpulint.semantic.cuda.left_out import stands_in_unit_test
from tpulint.semantic.devices.host_runs import GPU_MOVES, HostRuns
from tpulint.semantic.functions.definitions import Definitions, is_abstract
from tpulint.semantic.loops.batch_functions import BatchFunctions
from tpulint.semantic.loops.carried_turns import CarriedTurns
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.loops.few_turns import has_few_turns
from tpulint.semantic.loops.gradient_switches import GradientSwitches
from tpulint.semantic.loops.walks import goes_along
from tpulint.semantic.modules.module_runs import ModuleRuns
from tpulint.semantic.project.outside import STEP, OutsideCall
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, Comprehension, FunctionNode, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind, Kinds

_READS = frozenset({"item", "numpy", "cpu", "tolist"})


class Evaluation:
    """What is known about code that records no gradient."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        kinds: Kinds,
        definitions: Definitions,
        events: EventMap,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._kinds = kinds
        self._definitions = definitions
        self._events = events
        self.switches = GradientSwitches(tree, names, kinds, definitions, outside)
        self.runs = ModuleRuns(tree, names, kinds, definitions, events)
        self.batches = BatchLoops(tree, names, kinds, events, self.runs)
        self.host_runs = HostRuns(tree, names, kinds, definitions, self.runs)
        self._carried = CarriedTurns(tree, flow, definitions, events, self.runs)
        self._batch_functions = BatchFunctions(tree, definitions, events, self.switches, self.runs)
        self._run_by_others = {call.function for call in outside if call.turn == STEP}
        self._run_by_steps: Set[FunctionNode] = frozenset()

    def loops(
        self, candidates: list[LoopNode], step_loops: frozenset[LoopNode], run_by_steps: Set[FunctionNode]
    ) -> list[LoopNode]:
        """The innermost of these loops that evaluate: under ``no_grad`` or behind ``eval()``, no backward pass.

        ``run_by_steps`` are functions that every training step runs.
        """
        self._run_by_steps = run_by_steps
        if self.has_framework():
            candidates = [loop for loop in candidates if self._draws_nothing(loop, step_loops)]
        found = [loop for loop in candidates if self._evaluates(loop, step_loops)]
        within = {outer: loop for loop in found for outer in self._tree.ancestors(loop)}
        beside = [loop for loop in found if loop not in within or self._is_apart(loop, within[loop])]
        return [loop for loop in beside if not (self.batches.goes_through_few(loop) and self._is_within(loop, beside))]

    def _is_apart(self, loop: LoopNode, inner: LoopNode) -> bool:
        """Whether a loop evaluates beside one that it runs in each of its turns.

        So where it reads what a model made of one batch step by step, ``rows.append(sequence.cpu())``, or of all that
        the inner loop gathered: ``loss = criterion(head(torch.cat(parts)), y)``, ``total += loss.item()``.
        """
        if self.batches.is_beside(loop, inner):
            return True
        if not any(map(self._reads, self._calls_of(loop))):
            return False
        takes_batches = self.batches.takes_batches(loop)
        if any(self.runs.is_run(call) for call in self._calls_of(loop)):
            return not self._is_counted_out(loop)
        return takes_batches and not self.batches.takes_batches(inner) and self._carried.by_module(inner)

    def _is_counted_out(self, loop: LoopNode) -> bool:
        """Whether the number of turns is written out, ``range(8)``: rounds, of which there are few."""
        parts = () if isinstance(loop, ast.While) else (loop.iter, *self._tree.nodes_in(loop.iter, ast.Call))
        ranges = (part for part in parts if isinstance(part, ast.Call) and last_name(part.func) == "range")
        return any(all(isinstance(item, ast.Constant) for item in call.args) for call in ranges)

    def _calls_of(self, loop: LoopNode) -> Iterator[ast.Call]:
        """The calls that a loop makes itself, and no loop within it."""
        calls = self._tree.nodes_in(loop, ast.Call, functions=False)
        return (call for call in calls if self._tree.loop_of(call) is loop)

    def _reads(self, call: ast.Call) -> bool:
        func = call.func
        return isinstance(func, ast.Attribute) and func.attr in _READS and self._kinds.is_on_device(func.value)

    def is_shut_out(self, loop: LoopNode) -> bool:
        """Whether a loop is none, whatever it runs: it takes one batch, ``...; break``, or stands in a unit test."""
        leaves = isinstance(loop.body[-1], ast.Break | ast.Return | ast.Raise)
        goes_on = (self._tree.loop_of(node) is loop for node in self._tree.nodes_in(loop, ast.Continue))
        return (leaves and not any(goes_on)) or stands_in_unit_test(self._tree, loop)

    def _is_within(self, loop: LoopNode, loops: list[LoopNode]) -> bool:
        return any(outer is not loop and self._tree.encloses(outer, loop) for outer in loops)

    def _evaluates(self, loop: LoopNode, step_loops: frozenset[LoopNode]) -> bool:
        if self.is_shut_out(loop):
            return False
        if self.batches.gathers_gradients(loop):
            return True
        if not self._without_gradient(loop):
            if any(outer in step_loops for outer in self._tree.ancestors(loop)):
                if not self._is_behind_update(loop, step_loops):
                    return False
            elif not (
                self.switches.is_behind_eval(loop)
                or self.is_behind_training(loop, step_loops)
                or self._hands_to_evaluation(loop)
            ):
                return False
        if not self.batches.takes_batches(loop) and self._is_amid_gradients(loop):
            return False
        if not self.runs.is_in(loop):
            is_of_batches = self.batches.takes_batches(loop) or self._moves_parts(loop)
            if not (self._hands_on_batches(loop) if is_of_batches else self._goes_on(loop, step_loops)):
                return False
        if self.batches.goes_through_modules(loop) or self.host_runs.are_in(loop) or self._is_of_one_batch(loop):
            return False
        if goes_along(self._tree, self._names, loop):
            return False
        events = self._events.of(loop)
        if not events.backwards and self._is_gone_back_through(loop, step_loops):
            return False
        return not events.updates and (not events.backwards or self._is_against_adversary(loop))

    def _is_gone_back_through(self, loop: LoopNode, step_loops: Set[LoopNode]) -> bool:
        """Whether a loop within a step makes what a backward pass behind it goes through.

        ``loss = loss + criterion(outputs[i], labels)``: a boundary in each of its turns would cut the step into pieces.
        """
        tree = self._tree
        if self.batches.takes_batches(loop):
            return False
        is_quiet = self.switches.is_under_no_grad(loop) or self._runs_under_no_grad(loop)
        if is_quiet and not has_few_turns(tree, self._names, loop):
            return False  # samples that are drawn for the step
        around: ast.AST = loop
        while isinstance(around, ast.stmt) and not isinstance(around, FUNCTIONS) and around not in step_loops:
            behind = tree.suite_of(around)[tree.position_of(around) + 1 :]
            if any(self._events.events_in(item).backwards for item in behind):
                return any(step in step_loops for step in tree.ancestors(loop)) or self._is_of_step(loop)
            around = tree.parents[around]
        return False

    def _is_of_one_batch(self, loop: LoopNode) -> bool:
        """Whether the forward pass of a module goes through the samples that it is given: a part of one batch."""
        function, owner = self._tree.function_of(loop), self._tree.class_of(loop)
        is_forward = function is not None and function.name == "forward" and owner is not None
        if not is_forward or owner is None or not self._definitions.is_module_class(owner):
            return False
        return self.batches.goes_through_given(loop) and not self._carried.by_module(loop)

    def _is_of_step(self, loop: LoopNode) -> bool:
        return self._tree.function_of(loop) in self._run_by_steps

    def _is_of_forward(self, loop: LoopNode, step_loops: Set[LoopNode]) -> bool:
        """Whether the forward pass of a module that is trained leads to a loop: ``h = self.momentum(x)``."""
        function, owner = self._tree.function_of(loop), self._tree.class_of(loop)
        if function is None or owner is None or not self._definitions.is_module_class(owner):
            return False
        forward = self._definitions.method(owner, "forward")
        if forward is None or not (step_loops or f"{owner.name}.forward" in self._run_by_others):
            return False
        return function is forward or function in self._events.of(forward).functions

    def _moves_parts(self, loop: LoopNode) -> bool:
        """Whether a loop moves what it deals out: ``for x, y in self.data[phase]: x, y = x.cuda(), y.cuda()``."""
        if not isinstance(loop, ast.For):
            return False
        dealt = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        return any(
            isinstance(move, ast.Attribute) and isinstance(move.value, ast.Name) and move.value.id in dealt
            for name in GPU_MOVES
            for move in self._tree.attributes_called(name)
            if self._tree.loop_of(move) is loop
        )

    def _hands_on_batches(self, loop: LoopNode) -> bool:
        """Whether a loop gives each batch to what runs a module: ``model.features(x)``, ``objective(model, x)``.

        What is done with them may be left to derived classes as well.
        """
        calls = (node for node in self._tree.nodes_in(loop, ast.Call, functions=False) if isinstance(node, ast.Call))
        runs = self.runs
        return any(
            runs.computes(call) or runs.hands_on(call) or self._is_left_open(call) or self._runs_one_batch(call)
            for call in calls
        )

    def _hands_to_evaluation(self, loop: LoopNode) -> bool:
        """Whether a loop gives each batch to a function of this file that runs a model without gradients itself.

        ``for x, y in loader: total += self.evaluate(x, y)``, with ``no_grad`` or ``eval()`` in ``evaluate``.
        """
        if not self.batches.takes_batches(loop):
            return False
        calls = (node for node in self._tree.nodes_in(loop, ast.Call, functions=False) if node.args or node.keywords)
        called = (self._definitions.function_called(call) for call in calls if self._events.holder_of(call) is loop)
        return any(one is not None and self.runs_once(one, without_gradient=True) for one in called)

    def _goes_on(self, loop: LoopNode, step_loops: Set[LoopNode]) -> bool:
        """Whether each turn goes on from what the turn before gave, by a function of this file that runs a module.

        ``for t in reversed(range(steps)): x = self.p_sample(x, t)``, in nothing that a training step does.
        """
        if self._is_of_step(loop) or any(outer in step_loops for outer in self._tree.ancestors(loop)):
            return False
        if self._is_of_forward(loop, step_loops):
            return False
        return self._carried.by_function(loop)

    def _draws_nothing(self, loop: LoopNode, step_loops: Set[LoopNode]) -> bool:
        """Whether a loop goes on from its own results, where no loader of a framework sets the boundaries.

        ``for t in reversed(range(steps)): x = x - self.net(x, t)``
        """
        if self.batches.takes_batches(loop):
            return False
        is_quiet = self.switches.is_under_no_grad(loop) or self.switches.is_called_so(loop)
        return is_quiet and (self._carried.by_module(loop) or self._goes_on(loop, step_loops))

    def _is_left_open(self, call: ast.Call) -> bool:
        """Whether a method that a call gives something has no body: ``self.metrics_of(batch)``."""
        function = self._definitions.function_called(call) if call.args else None
        return function is not None and is_abstract(function)

    def _runs_one_batch(self, call: ast.Call) -> bool:
        """Whether a call gives something to a function of this file that runs a module, in no loop of its own."""
        function = self._definitions.function_called(call) if call.args else None
        return function is not None and self.runs_once(function, without_gradient=False)

    def _is_against_adversary(self, loop: LoopNode) -> bool:
        """Whether backward passes in an evaluation are those of what changes the batch, not the model.

        They stand in a function, or the loop takes the gradient of what it made itself: ``x = x + x.grad.sign()``.
        """
        events = self._events.of(loop)
        if events.manual_updates or events.candidates or self.switches.is_called_so(loop):
            return False
        is_elsewhere = not any(self._tree.encloses(loop, call) for call in events.backwards)
        is_of_batch = is_elsewhere or (self.batches.takes_batches(loop) and self._takes_own_gradient(loop))
        return is_of_batch and self.switches.is_behind_eval(loop) and isinstance(loop, ast.For)

    def _takes_own_gradient(self, loop: LoopNode) -> bool:
        """Whether a loop reads the gradient of a variable that its turns make."""
        gradients = (node for node in self._tree.attributes_called("grad") if self._tree.encloses(loop, node))
        of = [bindings for node in gradients if (bindings := self._flow.bindings_of(node.value))]
        return any(all(self._tree.encloses(loop, one.statement) for one in bindings) for bindings in of)

    def is_behind_training(self, loop: LoopNode, step_loops: Set[LoopNode]) -> bool:
        """Whether a loop over batches stands behind a step loop: a test that says nothing of gradients.

        It stands in the block of that loop, or in what some turns around both run, ``if epoch % 5 == 0:``. Nothing
        behind it goes backwards, through a loss of all batches. A text that a model goes on with is such a loop, too.
        """
        tree = self._tree
        if not self.batches.takes_batches(loop) and not self._carried.by_module(loop):
            return False
        statement: ast.stmt = loop
        while True:
            suite, at = tree.suite_of(statement), tree.position_of(statement)
            later = [call.func for item in suite[at + 1 :] for call in tree.nodes_in(item, ast.Call, functions=False)]
            if any(isinstance(func, ast.Attribute) and func.attr in ("backward", "grad") for func in later):
                return False
            if any(tree.encloses(item, step) for item in suite[:at] for step in step_loops):
                return True
            holder = tree.parents[statement]
            if not isinstance(holder, ast.If | ast.With | ast.Try):
                return False
            statement = holder

    def _is_behind_update(self, loop: LoopNode, step_loops: Set[LoopNode]) -> bool:
        """Whether a branch of a step, behind its update, goes through batches: a test that says nothing of gradients.

        ``if iteration % 500 == 0: for images, labels in test_loader: ...``
        """
        tree, events = self._tree, self._events
        statement: ast.stmt = loop
        is_chosen = is_behind = False
        while self.batches.takes_batches(loop) and statement not in step_loops:
            suite, at, holder = tree.suite_of(statement), tree.position_of(statement), tree.parents[statement]
            if any(events.events_in(item).backwards for item in suite[at + 1 :]):
                return False
            is_behind |= any(events.events_in(item).updates for item in suite[:at])
            is_chosen |= isinstance(holder, ast.If)
            if not isinstance(holder, ast.If | ast.With | ast.Try) and holder not in step_loops:
                return False
            assert isinstance(holder, ast.stmt)
            statement = holder
        return is_chosen and is_behind

    def runs_once(self, function: FunctionNode, *, without_gradient: bool) -> bool:
        """Whether a function runs a module, in no loop of its own and no loop of a framework, and no backward pass."""
        is_free = not self.has_framework()
        return is_free and self._batch_functions.run_once(function, without_gradient=without_gradient)

    def runs_for_batches(self, loop: LoopNode) -> bool:
        """Whether a loop runs a module and has nothing to do with training: no backward pass, no optimizer."""
        if self.has_framework() or self.batches.goes_through_modules(loop):
            return False
        calls = self._tree.nodes_in(loop, ast.Call, functions=False)
        if not any(self.runs.is_run(call) or self.runs.computes(call) for call in calls):
            return False
        events = self._events.of(loop)
        if events.backwards or events.updates or events.candidates:
            return False
        inside = self._tree.inside(loop, functions=False)
        return not any(
            isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and self._kinds.value(node).kind in (Kind.OPTIMIZER, Kind.SCALER)
            for node in inside
        )

    def records_nothing(self, loop: LoopNode | Comprehension) -> bool:
        """Whether no gradient is wanted of what a loop runs: under ``no_grad``, or behind ``eval()``."""
        return self.switches.is_under_no_grad(loop) or self.switches.is_behind_eval(loop)

    def _without_gradient(self, loop: LoopNode) -> bool:
        if self.switches.is_under_no_grad(loop) or self.switches.is_called_so(loop):
            return True
        inside = self._tree.inside(loop, functions=False)
        if not any(self.switches.switches_off(node) and self._runs_within(node) for node in inside):
            return False
        return all(map(self.switches.is_under_no_grad, self._runs_in(loop)))

    def _runs_in(self, loop: LoopNode) -> list[ast.Call]:
        return [call for call in self._tree.nodes_in(loop, ast.Call, functions=False) if self.runs.is_run(call)]

    def _runs_under_no_grad(self, loop: LoopNode) -> bool:
        """Whether each turn runs modules, all of them within a ``with torch.no_grad():`` of its own."""
        runs = self._runs_in(loop)
        return bool(runs) and all(map(self.switches.is_under_no_grad, runs))

    def _runs_within(self, block: ast.AST) -> bool:
        """Whether a block runs a module, or has a function of this file run one: ``with no_grad(): self.run(x)``."""
        calls = (node for node in self._tree.nodes_in(block, ast.Call, functions=False) if isinstance(node, ast.Call))
        return self.runs.is_in(block) or any(map(self._runs_one_batch, calls))

    def _is_amid_gradients(self, loop: LoopNode) -> bool:
        """Whether the function of a loop runs modules with gradients too: labels are guessed in front of a loss."""
        function = self._tree.function_of(loop)
        if function is None or self.switches.is_called_so(loop):
            return False
        runs = filter(self.runs.is_run, self._tree.nodes_in(function, ast.Call, functions=False))
        return any(
            self._events.holder_of(call) is function
            and not self.switches.is_under_no_grad(call)
            and self.switches.last_switch(call) != "eval"
            for call in runs
        )

    def has_framework(self) -> bool:
        """Whether a training framework deals out the batches, and with them the step boundaries."""
        for statement in self._tree.module.body:
            modules: list[str] = []
            if isinstance(statement, ast.ImportFrom):
                modules = [statement.module or ""]
            elif isinstance(statement, ast.Import):
                modules = [alias.name for alias in statement.names]
            if any(module.split(".", 1)[0] == "accelerate" for module in modules):
                return True
        return False
