"""Loops whose turns run a training step, or a model without gradients, in a function that they call.

The method ``train`` of an agent is a step that a loop of another file runs, and ``select_action`` is run beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.model import WORDS_OF_CALLERS
from tpulint.semantic.functions.rare_functions import rare_functions
from tpulint.semantic.loops.regions import may_have_turns
from tpulint.semantic.loops.steps import CalledStep
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import Definition, methods
from tpulint.semantic.project.outside import EVALUATION, STEP, OutsideCall
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.functions.definitions import Definitions
    from tpulint.semantic.loops.regions import Regions
    from tpulint.semantic.syntax.tree import SyntaxTree

_WORDS = (*WORDS_OF_CALLERS, "loader", ".step(", "optimizer_step(")
_EVALUATES = ("no_grad", "inference_mode", "eval(", "train(False", "train(mode=False")
_READS = ("item", "numpy", "cpu", "tolist")
"""Methods by which an agent gets what it does from the device."""
_CUT_OFF = (".detach().",)
"""What stands in front of them where no gradient is wanted."""
_BACKWARD = (".backward(",)
_DEPTH = 3
"""Functions between a loop and the call that makes it one."""


class Driver(CalledStep):
    """A loop that runs code of another function in every turn: a step, or a batch of an evaluation."""

    __slots__ = ("calls",)
    node: LoopNode  # type: ignore[assignment]

    def __init__(self, node: LoopNode, call: OutsideCall) -> None:
        super().__init__(node, call)  # type: ignore[arg-type]
        self.calls: list[ast.Call] = []
        """What the loop, or a function that it runs, calls of other files."""


class Drivers:
    """Finds them in one file, those left out that are step or evaluation loops by what stands in the file itself."""

    def __init__(self, tree: SyntaxTree, definitions: Definitions, imported: Imported, regions: Regions) -> None:
        self._tree = tree
        self._definitions = definitions
        self._imported = imported
        self._regions = regions
        reads = any(f".{name}(" in tree.source.text for name in _READS)
        self._may_evaluate = tree.source.has_any(_EVALUATES) or (
            reads and (bool(regions.step_loops) or tree.source.has_any(_CUT_OFF))
        )
        """Whether the file itself may run anything without gradients, or for what it reads alone."""
        self.loops: dict[LoopNode, Driver] = {}
        self.functions: dict[FunctionNode, Driver] = {}
        """Functions that these loops run."""
        self._open_loops: dict[ast.AST | None, list[LoopNode]] = {}
        self._find()
        for driver in self.loops.values():
            rare = self._run_now_and_then(driver)
            driver.functions = [
                function
                for function in regions.functions_in(driver.node)
                if not regions.has_turn(function) and function not in self.functions and function not in rare
            ]
            self.functions.update(dict.fromkeys(driver.functions, driver))

    def _find(self) -> None:
        text = self._tree.source.text
        may_run = self._regions.are_called or self._imported.knows_others
        if not self._tree.loops or not (may_run or any(word in text for word in _WORDS)):
            return  # most files of a library
        if self._may_evaluate or self._imported.knows_others or self._regions.replaced:
            self._look_at_calls()
        # Without the word the file has no loader, unless another one gives it.
        if "loader" in text.lower() or may_run:
            for loop in self._tree.loops:
                self._look_for_batches(loop)

    def _run_now_and_then(self, driver: Driver) -> set[FunctionNode]:
        """Functions that only some turns of a loop run: ``if model.steps % n == 0: validate(model)``.

        Where these hold the step itself, turns without one do not count.
        """
        regions, loop = self._regions, driver.node
        steps = {self._tree.function_of(call) for call in driver.calls}

        def is_rare(call: ast.Call, run: list[FunctionNode]) -> bool:
            return regions.gate_in(call, loop) is not None and steps.isdisjoint(run)

        return rare_functions(self._tree, regions.events, loop, is_rare)

    def _look_at_calls(self) -> None:
        """Take in loops that run a step, or a model without gradients, by what they call."""
        loops = [loop for loop in self._tree.loops if not self._is_of_forward_pass(loop)]
        in_loops = {call for loop in loops for call in self._tree.nodes_in(loop, ast.Call, functions=False)}
        helpers = {function for loop in loops for function in self._regions.functions_in(loop)}
        calls = sorted(in_loops, key=_position)
        for function in sorted(helpers, key=self._tree.span):
            beside = self._tree.nodes_in(function, ast.Call, functions=False)
            calls += [call for call in beside if call not in in_loops]
        evaluating: list[tuple[LoopNode, ast.Call]] = []
        for call in calls:
            # Few calls run in a loop whose turns are not known yet: no others are followed to where they lead.
            if loops := self._open_loops_of(call):
                self._note(call, loops, evaluating)
        for loop, call in evaluating:  # a loop that trains does that first of all
            self._add(loop, call, EVALUATION, has_boundary=False)

    def _is_of_forward_pass(self, loop: LoopNode) -> bool:
        """Whether a loop belongs to what a module computes."""
        function, owner = self._tree.function_of(loop), self._tree.class_of(loop)
        return function is not None and owner is not None and function.name in ("forward", "__init__")

    def _note(self, call: ast.Call, loops: list[LoopNode], evaluating: list[tuple[LoopNode, ast.Call]]) -> None:
        """Take in what one call makes of the loops that run it."""
        steps = self._imported.all_called(call)
        passes = () if steps else self._passes_that_train(call)
        for found in steps or passes:
            if not isinstance(found.node, FUNCTIONS) or not self._may_matter(found):
                continue
            regions = found.file.regions
            if regions.trains_once(found.node):
                for loop in loops:
                    self._add(loop, call, STEP, has_boundary=bool(regions.boundaries_in(found.node)))
            elif not passes:
                evaluating.extend((loop, call) for loop in self._evaluating(loops, regions, found.node))
        here = self._definitions.function_run(call)
        if here is not None and here in self._regions.replaced:
            for loop in loops:
                self._add(loop, call, STEP, self._regions.replaced[here].has_boundary)
        if not self._may_evaluate:
            return
        if here is not None:
            evaluating.extend((loop, call) for loop in self._evaluating(loops, self._regions, here))
        elif self._records_nothing(call) and self._regions.evaluation.runs.computes(call):
            evaluating.extend((loop, call) for loop in loops)

    def _passes_that_train(self, call: ast.Call) -> list[Definition]:
        """Forward passes of modules of other files that are the step themselves: ``model(x, optimizer)``."""
        found = methods(self._imported.classes_of(call.func), "forward")
        return [one for one in found if one.file.source.has_any(_BACKWARD)]

    def _records_nothing(self, call: ast.Call) -> bool:
        """Whether no gradient is wanted of a call, under ``no_grad`` or by what is read: ``f(x).detach().cpu()``."""
        if self._regions.evaluation.switches.is_under_no_grad(call):
            return True
        methods: list[str] = []
        node: ast.AST | None = call
        while isinstance(asked := self._tree.parents.get(node), ast.Attribute):  # type: ignore[arg-type]
            methods.append(asked.attr)
            node = self._tree.parents.get(asked)
            if not isinstance(node, ast.Call) or node.func is not asked:
                break
        return methods[:1] == ["detach"] and not set(methods).isdisjoint(_READS)

    def _may_matter(self, found: Definition) -> bool:
        """Whether a function of another file may train, or run a model without gradients, here or there."""
        source = found.file.source
        if "torch" in source.text:
            return self._may_evaluate or may_have_turns(source, ())
        return source.has_any(_BACKWARD)  # a step that is given all it trains needs no import

    def _evaluating(self, loops: list[LoopNode], regions: Regions, function: FunctionNode) -> Iterator[LoopNode]:
        """Those of some loops that evaluate by calling a function, of which these regions tell."""
        if regions.evaluation.runs_once(function, without_gradient=True):
            yield from loops
        elif regions.evaluation.runs_once(function, without_gradient=False):
            evaluation = self._regions.evaluation
            plays = any(one.attr in _READS for one in regions.attributes_in(function))
            yield from (
                loop
                for loop in loops
                if evaluation.records_nothing(loop)
                or self._is_behind_training(loop)
                or (plays and self._is_beside_training(loop))
            )

    def _is_beside_training(self, loop: LoopNode) -> bool:
        """Whether a loop around this one trains as well, in a loop of its own: games, and what learns of them.

        ``for _ in range(128): state = env.step(agent.act(state))`` with ``agent.learn(states)`` behind it.
        """
        around = next((outer for outer in self._tree.ancestors(loop) if isinstance(outer, (*LOOPS, *FUNCTIONS))), None)
        if not isinstance(around, LOOPS):
            return False
        beside = (node for node in self._tree.inside(around, functions=False) if isinstance(node, (*LOOPS, ast.Call)))
        return any(self._trains(node) for node in beside if not self._tree.encloses(loop, node))

    def _trains(self, node: ast.AST) -> bool:
        """Whether a node is a step loop, or calls a function with one."""
        steps = {step.node for step in self._regions.step_loops}
        if not isinstance(node, ast.Call):
            return node in steps
        for found in self._imported.all_called(node):
            if isinstance(found.node, FUNCTIONS) and "torch" in found.file.source.text and found.file.has_turn_loops:
                others = found.file.regions.step_loops
                if any(found.file.tree.function_of(step.node) is found.node for step in others):
                    return True
        ran = [one for called in self._regions.events.functions_of(node) for one in (called, *self._below(called))]
        return any(self._tree.function_of(step) in ran for step in steps)

    def _is_behind_training(self, loop: LoopNode) -> bool:
        """Whether a loop over batches stands behind one that trains, by itself or by what it was found to call."""
        training = {driver.node for driver in self.loops.values() if driver.call.turn == STEP}
        training |= {step.node for step in self._regions.step_loops if isinstance(step.node, LOOPS)}
        return self._regions.evaluation.is_behind_training(loop, training)

    def _look_for_batches(self, loop: LoopNode) -> None:
        """Take in a loop that runs a model on the batches of a data loader, and trains nothing."""
        evaluation = self._regions.evaluation
        if not evaluation.batches.takes_batches(loop) or evaluation.switches.last_switch(loop) == "train":
            return
        if evaluation.runs_for_batches(loop) and not self._regions.step_loop_of(loop):
            self._add(loop, None, EVALUATION, has_boundary=False)

    def _open_loops_of(self, call: ast.Call) -> list[LoopNode]:
        """The innermost loops that run a call, in its function or around the calls of that, of unknown turns."""
        holder = self._regions.events.holder_of(call)
        if holder not in self._open_loops:
            self._open_loops[holder] = [loop for loop in self._loops_of(holder, 0) if self._is_open(loop)]
        return self._open_loops[holder]

    def _loops_of(self, holder: ast.AST | None, depth: int) -> Iterator[LoopNode]:
        if isinstance(holder, LOOPS):
            yield holder
        elif isinstance(holder, FUNCTIONS) and depth < _DEPTH:
            for outer in self._definitions.calls_of(holder):
                yield from self._loops_of(self._regions.events.holder_of(outer), depth + 1)

    def _is_open(self, loop: LoopNode) -> bool:
        """Whether it is not known yet in what turns a loop runs."""
        return loop not in self._regions.turn_loops and not self._regions.has_turn(self._tree.function_of(loop))

    def _add(self, loop: LoopNode, call: ast.Call | None, turn: str, has_boundary: bool) -> None:
        if not self._is_open(loop):
            return
        if turn == EVALUATION and (self._regions.evaluation.is_shut_out(loop) or self._is_in_turn(loop)):
            return
        driver = self.loops.get(loop)
        if driver is None:
            called = OutsideCall("", turn, False, has_boundary, (), "")
            driver = self.loops[loop] = Driver(loop, called)
        if driver.call.turn == turn and call is not None:
            driver.calls.append(call)

    def _is_in_turn(self, loop: LoopNode) -> bool:
        """Whether a loop runs within the turn of another, or once per epoch: around loops that train or evaluate."""
        if any(outer in self._regions.turn_loops or outer in self.loops for outer in self._tree.ancestors(loop)):
            return True
        runs_turns = self._runs_turns if isinstance(loop, ast.For) else self._trains
        inside = [node for node in self._tree.inside(loop, functions=False) if runs_turns(node)]
        return any(self._regions.gate_in(node, loop) is None for node in inside)

    def _runs_turns(self, node: ast.AST) -> bool:
        """Whether a node is a loop with turns, or calls a function with one."""
        turns = {*self._regions.turn_loops, *self.loops}
        if not isinstance(node, ast.Call):
            return node in turns
        if any(_goes_through_batches(found) for found in self._imported.all_called(node)):
            return True
        ran = [
            function
            for called in self._regions.events.functions_of(node)
            for function in (called, *self._below(called))
        ]
        return any(self._tree.function_of(loop) in ran for loop in turns)

    def _below(self, function: FunctionNode) -> list[FunctionNode]:
        return self._regions.functions_in(function)


def _goes_through_batches(found: Definition) -> bool:
    """Whether a function of another file has a step or evaluation loop of its own."""
    file = found.file
    if not isinstance(found.node, FUNCTIONS) or "torch" not in file.source.text or not file.has_turn_loops:
        return False
    return any(file.tree.function_of(loop) is found.node for loop in file.regions.turn_loops)


def _position(call: ast.Call) -> tuple[int, int, int | None, int | None]:
    return call.lineno, call.col_offset, call.end_lineno, call.end_col_offset
