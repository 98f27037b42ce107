"""Where in the training a line runs: step loops, epoch loops, evaluation loops, functions called per step."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from functools import cached_property

from tpulint.model import Pace as Pace
from tpulint.semantic.functions.default_flags import DefaultFlags
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.counters import Counters
from tpulint.semantic.loops.evaluation import Evaluation
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.loops.gates import Gates
from tpulint.semantic.loops.given_flags import GivenFlags
from tpulint.semantic.loops.intervals import Intervals
from tpulint.semantic.loops.step_gates import gates_of_steps
from tpulint.semantic.loops.steps import CalledStep as CalledStep
from tpulint.semantic.loops.steps import Step as Step
from tpulint.semantic.loops.steps import StepFunction as StepFunction
from tpulint.semantic.loops.steps import StepFunctions, find_step_loops
from tpulint.semantic.loops.steps import StepLoop as StepLoop
from tpulint.semantic.project.outside import STEP, OutsideCall, merge
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, Comprehension, FunctionNode, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kinds
from tpulint.source import trains_by_imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.loops.drivers import Drivers
    from tpulint.semantic.project.imported import Imported
    from tpulint.source import SourceFile

_TRAINS = ("backward", "zero_grad", "scaler", "autograd.grad")
_TESTS = ("pytest", "unittest", "TestCase")
_EVALUATES = ("no_grad", "inference_mode", "eval(", "train(False", "set_grad_enabled", '"eval"', "'eval'")


def may_have_turns(source: SourceFile, outside: Sequence[OutsideCall]) -> bool:
    """Whether a file has any of the words without which it neither trains nor evaluates: a cheap first question."""
    return bool(outside) or source.has_any(_TRAINS) or source.has_any(_EVALUATES) or trains_by_imports(source.text)


class Regions:
    """The loops of one file and what each line's pace is."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        kinds: Kinds,
        definitions: Definitions,
        imported: Imported,
        flags: DefaultFlags,
        outside: Sequence[OutsideCall] = (),
    ) -> None:
        self._tree = tree
        self._names = names
        self._imported = imported
        self._definitions = definitions
        self.are_called = bool(outside)
        """Whether other files call functions of this one."""
        counters = Counters(names, flow)
        given = GivenFlags(tree, names, definitions, flags, outside, lambda test: self.intervals.hold(test))
        intervals = Intervals(tree, names, counters, definitions, imported, given)
        self.intervals = intervals
        """Conditions that hold every n-th turn only."""
        self._gates = Gates(tree, names, counters, flags, definitions, intervals)
        # Without any of these words there is no loop to find: most files of a library.
        trains = tree.source.has_any(_TRAINS) or (
            imported.knows_others and (trains_by_imports(tree.source.text) or imported.imports_steps)
        )
        delegated = None
        if imported.knows_others:
            from tpulint.semantic.loops.delegated_events import DelegatedEvents

            delegated = DelegatedEvents(imported)
        left = sorted({call.function for call in outside if call.leaves_update and "." in call.function})
        trains = trains or bool(left)
        self.events = EventMap(tree, names, kinds, definitions, delegated, not trains, left)
        self.evaluation = Evaluation(tree, names, flow, kinds, definitions, self.events, outside)
        # Many files of a library speak of gradients, few of them run a backward pass.
        trains = trains and self.events.have_step
        self.step_loops = find_step_loops(tree, self.events, self._loops) if trains else []
        self._by_loop = {loop.node: loop for loop in self.step_loops}
        self._per_step: dict[FunctionNode, Step] = {}
        for loop in self.step_loops:
            for function in loop.functions:
                self._per_step.setdefault(function, loop)
        others = StepFunctions(tree, names, definitions, self.events, imported, outside)
        self.step_functions = others.find(self.step_loops, self._per_step) if trains else []
        for step in self.step_functions:
            for function in (step.node, *step.functions):
                self._per_step.setdefault(function, step)
        self.turn_loops: frozenset[LoopNode] = frozenset(self._by_loop)
        """Step loops and evaluation loops."""
        self._step_gates = gates_of_steps(tree, self._gates, self.events, (*self.step_loops, *self.step_functions))
        self._gated = self._find_gated()
        """Functions that a step runs only at a log interval."""
        gathers = tree.source.has_any(_TRAINS) and ".grad" in tree.source.text
        may_evaluate = gathers or tree.source.has_any(_EVALUATES) or any(call.is_quiet for call in outside)
        candidates = self._loops if self.step_loops or may_evaluate else []
        run_by_steps = self._per_step.keys() - self._gated
        evaluating = self.evaluation.loops(candidates, frozenset(self._by_loop), run_by_steps)
        self.evaluation_loops = dict.fromkeys(evaluating)
        """In order of position; a dictionary, since they are looked up for every line that is asked about."""
        self.turn_loops = frozenset((*self._by_loop, *self.evaluation_loops))
        self._step_gates |= self._gates.skipped.of_whole_turns(self.evaluation_loops, self.runs_module)
        self.listed_evaluations = self._find_listed(may_evaluate, run_by_steps)
        """Comprehensions that evaluate, each with the functions it runs."""
        self._listed: dict[ast.AST, Comprehension] = {node.elt: node for node in self.listed_evaluations}
        self._per_evaluation: dict[FunctionNode, LoopNode | Comprehension] = {}
        for node in self.evaluation_loops:
            for function in self.functions_in(node):
                self._per_evaluation.setdefault(function, node)
        for listed, functions in self.listed_evaluations.items():
            for function in functions:
                self._per_evaluation.setdefault(function, listed)
        self._per_call: dict[FunctionNode, CalledStep] = {}
        self.called_steps = self._find_called(outside)
        """Functions that loops of other files run in every turn."""
        replaced = [call for call in outside if call.replaces and not call.leaves_update]
        self.replaced = {function: call for call in replaced for function in definitions.named(call.function)}
        """Methods without a body that are steps in classes of other files."""

    # ---------------------------------------------------------------- loops

    @cached_property
    def _loops(self) -> list[LoopNode]:
        if not self._tree.source.has_any(_TESTS):
            return self._tree.loops
        from tpulint.semantic.cuda.left_out import loops_for_devices

        return loops_for_devices(self._tree)

    def _find_listed(
        self, may_evaluate: bool, run_by_steps: Set[FunctionNode]
    ) -> dict[Comprehension, list[FunctionNode]]:
        tree = self._tree
        if not may_evaluate or not (tree.list_comprehensions or tree.generator_expressions):
            return {}
        from tpulint.semantic.loops.listed_evaluations import ListedEvaluations

        known = (self.events, self.evaluation, self._by_loop.keys(), run_by_steps)
        return ListedEvaluations(tree, self._names, self._definitions, *known).found

    def _find_gated(self) -> set[FunctionNode]:
        always: set[FunctionNode] = set()
        always.update(step.node for step in self.step_functions)
        todo: list[ast.AST] = [step.node for step in (*self.step_loops, *self.step_functions)]
        seen: set[ast.AST] = set()
        while todo:
            holder = todo.pop()
            if holder in seen:
                continue
            seen.add(holder)
            for node in self._tree.nodes_in(holder, ast.Call, functions=False):
                if self._gates.above(node, self.turn_loops, self._step_gates) is not None:
                    continue
                for function in self.events.functions_of(node):
                    if function in self._per_step:
                        always.add(function)
                        todo.append(function)
        return {function for function in self._per_step if function not in always}

    def _find_called(self, outside: Sequence[OutsideCall]) -> list[CalledStep]:
        """Functions of this file that others call in their turns, those left out that are known from here."""
        calls: dict[FunctionNode, list[OutsideCall]] = {}
        for call in outside:
            for function in self._definitions.named(call.function) if call.turn else ():
                if function not in self._per_step and function not in self._per_evaluation:
                    calls.setdefault(function, []).append(call)
        found = [CalledStep(function, merge(made)) for function, made in calls.items()]
        # What a step and an evaluation both call is the step's.
        for called in sorted(found, key=lambda item: (item.call.turn != STEP, self._tree.start(item.node))):
            rare = self._run_without_training(called.node) if called.call.turn == STEP else ()
            wrappers = self._definitions.decorations.wrappers_of(called.node)
            within = [other for one in (called.node, *wrappers) for other in self.events.of(one).functions]
            called.functions = [
                function
                for function in dict.fromkeys((*wrappers, *within))
                if function is not called.node
                and function not in calls
                and function not in self._per_step
                and function not in self._per_evaluation
                and function not in rare
            ]
            for function in (called.node, *called.functions):
                self._per_call.setdefault(function, called)
        return found

    def _run_without_training(self, function: FunctionNode) -> set[FunctionNode]:
        """What a forward pass runs only ``if not self.training``, which is no part of a step."""
        if ".training" not in self._tree.source.text:
            return set()
        from tpulint.semantic.functions.rare_functions import rare_functions

        switches = self.evaluation.switches
        return rare_functions(self._tree, self.events, function, lambda call, _: switches.is_without_training(call))

    @cached_property
    def drivers(self) -> Drivers:
        """Loops whose turns run a step in a function that they call. Found late: the other files ask this one too."""
        from tpulint.semantic.loops.drivers import Drivers

        return Drivers(self._tree, self._definitions, self._imported, self)

    # ---------------------------------------------------------------- queries

    @property
    def have_turns(self) -> bool:
        """Whether any code of the file runs step by step or batch by batch."""
        found = (self.turn_loops, self.listed_evaluations, self.step_functions, self.called_steps, self.drivers.loops)
        return any(found)

    @cached_property
    def all_turn_loops(self) -> frozenset[LoopNode | Comprehension]:
        """Loops whose turns run step by step or batch by batch, those included that do it by what they call."""
        return frozenset((*self.turn_loops, *self.drivers.loops, *self.listed_evaluations))

    @property
    def steps_across_files(self) -> list[CalledStep]:
        """Functions that loops of other files run in every turn, and loops whose turns run functions of other files."""
        return [*self.called_steps, *self.drivers.loops.values()]

    def has_turn(self, function: FunctionNode | None) -> bool:
        """Whether it is known from this file, or from calls of others, in what turns a function runs."""
        return function in self._per_step or function in self._per_evaluation or function in self._per_call

    def trains_once(self, function: FunctionNode) -> bool:
        """Whether a function runs a backward pass and an update, and no step loop: calling it trains one step."""
        events = self.events.of(function)
        if not events.has_step:
            return False
        holders = {function, *events.functions}
        return not any(self._tree.function_of(loop.node) in holders for loop in self.step_loops)

    def updates_in(self, statement: ast.stmt) -> list[ast.AST]:
        """Updates that running a statement does, through the functions it calls as well."""
        events = self.events.events_in(statement)
        return [*events.updates, *events.manual_updates, *events.candidates]

    def functions_in(self, holder: ast.AST) -> list[FunctionNode]:
        """Functions of this file that a loop body or function runs, those called by them included."""
        return self.events.of(holder).functions

    def attributes_in(self, function: FunctionNode) -> list[ast.Attribute]:
        """Attributes that a function itself names."""
        return self._tree.nodes_in(function, ast.Attribute, functions=False)

    def evaluated_in(self, loop: LoopNode) -> list[FunctionNode]:
        """Functions that an evaluation loop runs, and those of which it runs one."""
        return [*self.functions_in(loop), *self.chosen_in(loop)]

    def chosen_in(self, loop: LoopNode) -> list[FunctionNode]:
        """Functions of which every turn of a loop runs one: chosen in branches, of an object of several classes."""
        calls = [call for call in self._tree.nodes_in(loop, ast.Call, functions=False) if self.gate_of(call) is None]
        return [one for call in calls for one in self._definitions.functions_of_several(call)]

    def boundaries_in(self, holder: ast.AST) -> list[ast.AST]:
        """Step boundaries that a loop body or function sets, through the functions it calls as well."""
        return self.events.of(holder).boundaries

    def records_gradient(self, node: ast.AST) -> bool:
        """Whether operations at a node can become part of a gradient: false under ``torch.no_grad()``."""
        return not self.evaluation.switches.is_under_no_grad(node)

    def runs_module(self, holder: ast.AST) -> bool:
        """Whether a module is run at or below a node."""
        return self.evaluation.runs.is_in(holder)

    def hands_module_on(self, holder: ast.AST) -> bool:
        """Whether a call at or below a node gives a function, which nobody may know, a module and its input."""
        calls = self._tree.nodes_in(holder, ast.Call, functions=False)
        return any(isinstance(call, ast.Call) and self.evaluation.runs.hands_on(call) for call in calls)

    def step_loop_of(self, node: ast.AST) -> Step | None:
        """The step loop in whose turns the node runs, directly or in a function called per step."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child) and ancestor in self._by_loop:
                return self._by_loop[ancestor]
            if isinstance(ancestor, FUNCTIONS):
                return self._per_step.get(ancestor)
            child = ancestor
        return None

    def called_step_of(self, node: ast.AST) -> CalledStep | None:
        """The step that crosses files in whose turns the node runs: one that another file runs, or a driver.

        None in a step loop of this file, whose turns are shorter.
        """
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child):
                if ancestor in self.drivers.loops:
                    return self.drivers.loops[ancestor]
                if ancestor in self._by_loop:
                    return None
            if isinstance(ancestor, FUNCTIONS):
                return self._per_call.get(ancestor) or self.drivers.functions.get(ancestor)
            child = ancestor
        return None

    def evaluation_loop_of(self, node: ast.AST) -> LoopNode | Comprehension | None:
        """The evaluation loop in whose turns the node runs."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if child in self._listed:
                return self._listed[child]
            if (
                isinstance(ancestor, LOOPS)
                and self._tree.in_body(ancestor, child)
                and ancestor in self.evaluation_loops
            ):
                return ancestor
            if isinstance(ancestor, FUNCTIONS):
                return self._per_evaluation.get(ancestor)
            child = ancestor
        return None

    def gate_of(self, node: ast.AST) -> ast.AST | None:
        """The ``if`` (or ``and``) between a node and its loop that opens only every n-th turn, or rarely.

        Or the ``continue`` in front of it that most turns go on by.
        Loops that a turn runs to their end are no obstacle: what stands around them holds for all of their turns. One
        that holds all of the step is none: what stands in it runs in every step.
        """
        return self._gates.above(node, self.all_turn_loops, self._step_gates)

    def gate_in(self, node: ast.AST, loop: LoopNode | FunctionNode) -> ast.AST | None:
        """The same between a node and this loop, whatever its turns are."""
        return self._gates.above(node, (loop,))

    def let_through(self, gate: ast.AST) -> list[ast.AST]:
        """What runs only where a gate opens."""
        if isinstance(gate, ast.Continue | ast.Return):
            branch = self._tree.parents[gate]
            return [*self._gates.skipped.behind(branch)] if isinstance(branch, ast.If) else []
        return [gate]

    def is_gated(self, function: FunctionNode) -> bool:
        """Whether a step runs a function only at a log interval."""
        return function in self._gated

    def pace_of(self, node: ast.AST) -> Pace | None:
        """How often a turn runs the node: the nearest loop decides, then the caller; None outside of all turns."""
        pace = self._pace_of(node)
        trains = pace in (Pace.STEP, Pace.LOG_INTERVAL)
        return None if trains and self.evaluation.switches.is_without_training(node) else pace

    def _pace_of(self, node: ast.AST) -> Pace | None:
        child = node
        for ancestor in self._tree.ancestors(node):
            if child in self._listed:
                return Pace.EVALUATION
            if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child):
                if ancestor in self.evaluation_loops:
                    return Pace.EVALUATION
                if ancestor in self._by_loop:
                    return Pace.LOG_INTERVAL if self.gate_of(node) is not None else Pace.STEP
                if ancestor in self.drivers.loops:
                    return self._pace_of_call(node, self.drivers.loops[ancestor].call)
            if isinstance(ancestor, FUNCTIONS):
                if ancestor in self._per_step and ancestor not in self._gated:
                    return Pace.LOG_INTERVAL if self.gate_of(node) is not None else Pace.STEP
                if ancestor in self._per_evaluation:
                    return Pace.EVALUATION
                if ancestor in self._per_step:
                    return Pace.LOG_INTERVAL
                called = self._per_call.get(ancestor) or self.drivers.functions.get(ancestor)
                return None if called is None else self._pace_of_call(node, called.call)
            child = ancestor
        return None

    def _pace_of_call(self, node: ast.AST, call: OutsideCall) -> Pace:
        if self.gate_of(node) is not None:
            return Pace.LOG_INTERVAL
        return Pace.STEP if call.turn == STEP else Pace.EVALUATION
