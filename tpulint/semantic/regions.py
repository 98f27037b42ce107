"""Where in the training a line runs: step loops, epoch loops, evaluation loops, functions called per step."""

from __future__ import annotations

import ast
import re
from enum import Enum

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.events import EventMap, Events
from tpulint.semantic.kinds import Kind, Kinds
from tpulint.semantic.names import Names
from tpulint.semantic.tree import FUNCTIONS, LOOPS, FunctionNode, LoopNode, SyntaxTree


class Pace(Enum):
    """How often a line runs."""

    STEP = "per step"
    LOG_INTERVAL = "per log interval"
    EVALUATION = "per evaluation batch"
    EPOCH = "per epoch"
    ONCE = "once"


class StepLoop:
    """The innermost loop that holds both the backward pass and the optimizer's update."""

    __slots__ = ("backwards", "boundaries", "functions", "is_certain", "manual_updates", "node", "updates")

    def __init__(self, node: LoopNode) -> None:
        self.node = node
        self.is_certain = True
        """Whether it is known, not guessed, that the updates are updates."""
        self.backwards: list[ast.Call] = []
        """Calls that run the backward pass, in the loop or in a function it calls."""
        self.updates: list[ast.Call] = []
        """Calls that update parameters: ``optimizer.step()``, ``scaler.step(optimizer)``, ``xm.optimizer_step``."""
        self.manual_updates: list[ast.stmt] = []
        """Statements that update a parameter by hand: ``p.data.add_(p.grad, alpha=-lr)``."""
        self.boundaries: list[ast.AST] = []
        """Step boundaries found: ``torch_xla.sync()``, ``barrier=True``, a device loader, ``torch_xla.step()``, the backward
        pass of a training framework, which sets boundaries of its own."""
        self.functions: list[FunctionNode] = []
        """Functions of this file that run in every step, those called by them included."""


_TRAINS_OR_EVALUATES = re.compile(r"backward|scaler|no_grad|inference_mode|\beval\(|set_grad_enabled|optimizer_step")


class Regions:
    """The loops of one file and what each line's pace is."""

    def __init__(self, tree: SyntaxTree, names: Names, kinds: Kinds, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions
        # Without any of these words there is no loop to find: most files of a library.
        self._loops = tree.loops if _TRAINS_OR_EVALUATES.search(tree.source.text) else []
        self.events = EventMap(tree, names, kinds, definitions)
        self.step_loops = self._find_step_loops()
        self._by_loop = {loop.node: loop for loop in self.step_loops}
        self._per_step: dict[FunctionNode, StepLoop] = {}
        for loop in self.step_loops:
            for function in loop.functions:
                self._per_step.setdefault(function, loop)
        self._gated = self._find_gated()
        """Functions that a step runs only at a log interval."""
        self.evaluation_loops = self._find_evaluation_loops()
        self.turn_loops: frozenset[LoopNode] = frozenset((*self._by_loop, *self.evaluation_loops))
        """Step loops and evaluation loops."""
        self._per_evaluation: dict[FunctionNode, LoopNode] = {}
        for node in self.evaluation_loops:
            for function in self.functions_in(node):
                self._per_evaluation.setdefault(function, node)

    # ---------------------------------------------------------------- loops

    def _find_step_loops(self) -> list[StepLoop]:
        """Loops with both events, those of step loops below them, directly or through calls, left out."""
        summaries = {loop: self.events.of(loop) for loop in self._loops}
        both = {loop: events for loop, events in summaries.items() if events.has_step}
        result = []
        for node, events in both.items():
            inner = [other for loop, other in both.items() if loop is not node and self._runs(node, loop, events)]
            loop = StepLoop(node)
            loop.backwards = [item for item in events.backwards if not any(item in other.backwards for other in inner)]
            loop.updates = [item for item in events.updates if not any(item in other.updates for other in inner)]
            loop.manual_updates = [
                item for item in events.manual_updates if not any(item in other.manual_updates for other in inner)
            ]
            if not loop.updates and not loop.manual_updates:
                loop.updates = [
                    item for item in events.candidates if not any(item in other.candidates for other in inner)
                ]
                loop.is_certain = False
            loop.boundaries, loop.functions = events.boundaries, events.functions
            if inner:
                loop.boundaries = [
                    item for item in events.boundaries if not any(item in other.boundaries for other in inner)
                ]
                loop.functions = [
                    item for item in events.functions if not any(item in other.functions for other in inner)
                ]
            if loop.backwards and (loop.updates or loop.manual_updates):
                result.append(loop)
        return result

    def _runs(self, outer: LoopNode, inner: LoopNode, events: Events) -> bool:
        """Whether a turn of ``outer`` runs the loop ``inner``."""
        function = self._tree.function_of(inner)
        if self._tree.function_of(outer) is function and self._tree.encloses(outer, inner):
            return True
        return function is not None and function in events.functions

    def _find_gated(self) -> set[FunctionNode]:
        always: set[FunctionNode] = set()
        todo: list[ast.AST] = [loop.node for loop in self.step_loops]
        seen: set[ast.AST] = set()
        while todo:
            holder = todo.pop()
            if holder in seen:
                continue
            seen.add(holder)
            for node in self._tree.inside(holder, functions=False):
                if not isinstance(node, ast.Call) or self.gate_of(node) is not None:
                    continue
                for function in self.events.functions_of(node):
                    if function in self._per_step:
                        always.add(function)
                        todo.append(function)
        return {function for function in self._per_step if function not in always}

    def _find_evaluation_loops(self) -> list[LoopNode]:
        """Loops that run a module without a backward pass, under no_grad or after ``eval()``."""
        result = []
        for loop in self._loops:
            events = self.events.of(loop)
            if (
                events.backwards
                or events.updates
                or (self.step_loop_of(loop) is not None
                and self._tree.encloses(
                    self.step_loop_of(loop).node,
                    loop,  # type: ignore[union-attr]
                )
                and not self._without_gradient(loop))
            ):
                continue
            if (self._without_gradient(loop) or self._after_eval(loop)) and self.runs_module(loop):
                if not self._goes_through_modules(loop) and not self._has_framework:
                    result.append(loop)
        return [loop for loop in result if not any(o is not loop and self._tree.encloses(loop, o) for o in result)]

    def _goes_through_modules(self, loop: LoopNode) -> bool:
        """Whether each turn runs another module: ``for layer in layers: x = layer(x)``."""
        if not isinstance(loop, ast.For | ast.AsyncFor):
            return False
        targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        through = False
        for node in self._tree.inside(loop, functions=False):
            if isinstance(node, ast.Call) and self._kinds.value(node.func).kind is Kind.MODULE:
                if not any(isinstance(part, ast.Name) and part.id in targets for part in ast.walk(node.func)):
                    return False
                through = True
        return through

    @property
    def _has_framework(self) -> bool:
        """Whether a training framework deals out the batches, and with them the step boundaries."""
        return any(
            (isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".", 1)[0] == "accelerate")
            or (isinstance(statement, ast.Import) and any(alias.name == "accelerate" for alias in statement.names))
            for statement in self._tree.module.body
        )  # fmt: skip

    def _after_eval(self, loop: LoopNode) -> bool:
        """Whether a module was last switched by ``eval()``, not ``train()``, in front of a loop of the same function."""
        begin, function = (loop.lineno, loop.col_offset), self._tree.function_of(loop)
        last = ""
        for call in self._tree.calls:
            if (call.lineno, call.col_offset) >= begin:
                break
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("eval", "train"):
                if self._tree.function_of(call) is function and self._kinds.value(call.func.value).kind is Kind.MODULE:
                    last = "train" if call.args else call.func.attr
        return last == "eval"

    def _under_no_grad(self, node: ast.AST) -> bool:
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.With | ast.AsyncWith) and self._tree.in_body(ancestor, child):
                for item in ancestor.items:
                    target = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
                    if self._names.qualified(target) in facts.NO_GRAD_CONTEXTS:
                        return True
            if isinstance(ancestor, FUNCTIONS):
                for decorator in ancestor.decorator_list:
                    target = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if self._names.qualified(target) in facts.NO_GRAD_CONTEXTS:
                        return True
                return False
            child = ancestor
        return False

    def _without_gradient(self, node: ast.AST) -> bool:
        if self._under_no_grad(node):
            return True
        for inner in self._tree.inside(node, functions=False):
            if isinstance(inner, ast.With):
                for item in inner.items:
                    target = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
                    if self._names.qualified(target) in facts.NO_GRAD_CONTEXTS:
                        return True
        return False

    def runs_module(self, holder: ast.AST) -> bool:
        """Whether a module is run at or below a node."""
        for node in (holder, *self._tree.inside(holder, functions=False)):
            if isinstance(node, ast.Call) and not isinstance(node.func, ast.Call):
                if self._kinds.value(node.func).kind is Kind.MODULE:
                    return True
                if isinstance(node.func, ast.Attribute) and self._kinds.value(node.func.value).kind is Kind.MODULE:
                    if node.func.attr in ("generate", "forward", "encode", "decode"):
                        return True
        return False

    # ---------------------------------------------------------------- queries

    def updates_in(self, statement: ast.stmt) -> list[ast.AST]:
        """Updates that running a statement does, through the functions it calls as well."""
        events = self.events.events_in(statement)
        return [*events.updates, *events.manual_updates, *events.candidates]

    def functions_in(self, holder: ast.AST) -> list[FunctionNode]:
        """Functions of this file that a loop body or function runs, those called by them included."""
        return self.events.of(holder).functions

    def boundaries_in(self, holder: ast.AST) -> list[ast.AST]:
        """Step boundaries that a loop body or function sets, through the functions it calls as well."""
        return self.events.of(holder).boundaries

    def records_gradient(self, node: ast.AST) -> bool:
        """Whether operations at a node can become part of a gradient: false under ``torch.no_grad()``."""
        return not self._under_no_grad(node)

    def step_loop_of(self, node: ast.AST) -> StepLoop | None:
        """The step loop in whose turns the node runs, directly or in a function called per step."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child) and ancestor in self._by_loop:
                return self._by_loop[ancestor]
            if isinstance(ancestor, FUNCTIONS):
                return self._per_step.get(ancestor)
            child = ancestor
        return None

    def evaluation_loop_of(self, node: ast.AST) -> LoopNode | None:
        """The evaluation loop in whose turns the node runs."""
        child = node
        for ancestor in self._tree.ancestors(node):
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
        """The ``if`` (or ``and``) between the node and its loop that opens only every n-th turn or on a rare condition."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, (*LOOPS, *FUNCTIONS)):
                return None
            if (
                isinstance(ancestor, ast.If)
                and self._tree.in_body(ancestor, child)
                and self._is_interval(ancestor.test)
            ):
                return ancestor
            if isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And):
                if any(self._is_interval(value) for value in ancestor.values[: ancestor.values.index(child)]):  # type: ignore[arg-type]
                    return ancestor
            child = ancestor
        return None

    def _is_interval(self, test: ast.expr) -> bool:
        """``step % n == 0`` in any of its spellings, alone or and-ed, and the last or first turn."""
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And):
                return any(self._is_interval(value) for value in test.values)
            return all(self._is_interval(value) for value in test.values)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return isinstance(test.operand, ast.BinOp) and isinstance(test.operand.op, ast.Mod)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            if not isinstance(test.ops[0], ast.Eq):
                return False
            sides = (test.left, test.comparators[0])
            if any(isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mod) for side in sides):
                return True
            # `if i == 0`, `if step == last`: one turn of many, when a counter is compared.
            return any(isinstance(side, ast.Name) and self._is_counter(side) for side in sides)
        return isinstance(test, ast.Name) and any(
            binding.kind == "assign" and binding.value is not None and not binding.path and not isinstance(binding.value, ast.Name)
            and self._is_interval(binding.value)
            for binding in self._names.bindings(test)
        )  # fmt: skip

    def _is_counter(self, name: ast.Name) -> bool:
        """Whether a name counts turns: bound by ``enumerate`` or ``range``, or stepped by ``+= 1``."""
        for binding in self._names.bindings(name):
            if binding.kind == "augment" and isinstance(binding.value, ast.Constant):
                return True
            if binding.kind == "loop" and isinstance(binding.value, ast.Call):
                called = self._names.qualified(binding.value.func)
                if called == "builtins.range" or (called == "builtins.enumerate" and binding.path == (0,)):
                    return True
        return False

    def is_gated(self, function: FunctionNode) -> bool:
        """Whether a step runs a function only at a log interval."""
        return function in self._gated

    def pace_of(self, node: ast.AST) -> Pace:
        """How often the node runs: the nearest loop around it decides, then the caller of its function."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child):
                if ancestor in self.evaluation_loops:
                    return Pace.EVALUATION
                if ancestor in self._by_loop:
                    return Pace.LOG_INTERVAL if self.gate_of(node) is not None else Pace.STEP
            if isinstance(ancestor, FUNCTIONS):
                if ancestor in self._per_evaluation:
                    return Pace.EVALUATION
                if ancestor in self._per_step:
                    gated = ancestor in self._gated or self.gate_of(node) is not None
                    return Pace.LOG_INTERVAL if gated else Pace.STEP
                break
            child = ancestor
        return Pace.EPOCH if self._tree.loop_of(node) is not None else Pace.ONCE
