"""Where in the training a line runs: step loops, epoch loops, evaluation loops, functions called per step."""

from __future__ import annotations

import ast
import re
from enum import Enum

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.kinds import Kind, Kinds
from tpulint.semantic.names import Names
from tpulint.semantic.tree import FUNCTIONS, LOOPS, FunctionNode, LoopNode, SyntaxTree

_BOUNDARIES = frozenset({"torch_xla.sync", "torch_xla.core.xla_model.mark_step", "torch_xla.core.xla_model.step_"})
_BOUNDARY_LOADERS = frozenset({"torch_xla.distributed.parallel_loader.MpDeviceLoader",
                               "torch_xla.distributed.parallel_loader.ParallelLoader"})  # fmt: skip
_CALL_DEPTH = 5


class Pace(Enum):
    """How often a line runs."""

    STEP = "per step"
    LOG_INTERVAL = "per log interval"
    EVALUATION = "per evaluation batch"
    EPOCH = "per epoch"
    ONCE = "once"


class StepLoop:
    """The innermost loop that holds both the backward pass and the optimizer's update."""

    __slots__ = ("backwards", "boundaries", "functions", "manual_updates", "node", "updates")

    def __init__(self, node: LoopNode) -> None:
        self.node = node
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


_TRAINS_OR_EVALUATES = re.compile(r"backward|no_grad|inference_mode|\beval\(|set_grad_enabled|optimizer_step")


class _Events:
    """What one piece of code does, itself and through the functions it calls."""

    __slots__ = ("backwards", "boundaries", "functions", "manual_updates", "updates")

    def __init__(self) -> None:
        self.backwards: list[ast.Call] = []
        self.updates: list[ast.Call] = []
        self.manual_updates: list[ast.stmt] = []
        self.boundaries: list[ast.AST] = []
        self.functions: list[FunctionNode] = []

    @property
    def has_step(self) -> bool:
        """Whether both the backward pass and the update are there."""
        return bool(self.backwards and (self.updates or self.manual_updates))


class Regions:
    """The loops of one file and what each line's pace is."""

    def __init__(self, tree: SyntaxTree, names: Names, kinds: Kinds, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions
        self._direct: dict[ast.AST | None, _Events] = {}
        self._called: dict[ast.AST | None, list[FunctionNode]] = {}
        # Without any of these words there is no loop to find: most files of a library.
        self._loops: list[LoopNode] = []
        if _TRAINS_OR_EVALUATES.search(tree.source.text):
            self._loops = tree.loops
            self._collect()
        self.step_loops = self._find_step_loops()
        self._by_loop = {loop.node: loop for loop in self.step_loops}
        self._per_step: dict[FunctionNode, StepLoop] = {}
        for loop in self.step_loops:
            for function in loop.functions:
                self._per_step.setdefault(function, loop)
        self._gated = self._find_gated()
        """Functions that a step runs only at a log interval."""
        self.evaluation_loops = self._find_evaluation_loops()
        self._per_evaluation: dict[FunctionNode, LoopNode] = {}
        for node in self.evaluation_loops:
            for function in self.functions_in(node):
                self._per_evaluation.setdefault(function, node)

    # ---------------------------------------------------------------- events

    def _holder(self, node: ast.AST) -> ast.AST | None:
        """The innermost loop body or function that runs the node; None for the module."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child):
                return ancestor
            if isinstance(ancestor, (*FUNCTIONS, ast.Lambda)):
                return ancestor
            child = ancestor
        return None

    def _collect(self) -> None:
        for call in self._tree.calls:
            func = call.func
            name = self._names.qualified(func)
            holder = self._holder(call)
            if name in _BOUNDARIES:
                self._events(holder).boundaries.append(call)
            elif name == "torch_xla.core.xla_model.optimizer_step":
                self._events(holder).updates.append(call)
                if any(k.arg == "barrier" and isinstance(k.value, ast.Constant) and k.value.value for k in call.keywords):
                    self._events(holder).boundaries.append(call)
            elif name == "torch_xla.step" or name == "torch_xla.debug.profiler.StepTrace":
                self._events(holder).boundaries.append(call)
            elif name == "torch.autograd.backward":
                self._events(holder).backwards.append(call)
            elif isinstance(func, ast.Attribute):
                if func.attr in ("backward", "manual_backward"):
                    if self._is_backward(call, func):
                        self._events(holder).backwards.append(call)
                        if self._is_of_framework(call, func):
                            self._events(holder).boundaries.append(call)
                elif func.attr == "step":
                    if self.is_update(call, func):
                        self._events(holder).updates.append(call)
                        closure = self._closure(call)
                        if closure is not None:
                            self._called.setdefault(holder, []).append(closure)
            function = self._definitions.function_called(call)
            if function is not None:
                self._called.setdefault(holder, []).append(function)
            elif self._compiled_step(call) is not None:
                compiled = self._compiled_step(call)
                assert compiled is not None
                self._called.setdefault(holder, []).append(compiled)
                self._events(holder).boundaries.append(call)
        for attribute in self._tree.attributes:
            if attribute.attr == "grad" and isinstance(attribute.ctx, ast.Load):
                statement = self._manual_update(attribute)
                if statement is not None and statement not in self._events(self._holder(statement)).manual_updates:
                    self._events(self._holder(statement)).manual_updates.append(statement)
        for loop in self._loops:
            if isinstance(loop, ast.For) and self._iterates_device_loader(loop.iter):
                self._events(loop).boundaries.append(loop.iter)

    def _events(self, holder: ast.AST | None) -> _Events:
        return self._direct.setdefault(holder, _Events())

    def _is_backward(self, call: ast.Call, func: ast.Attribute) -> bool:
        # `ctx.backward` of a custom autograd.Function is a definition, not this; a user's own method is followed instead.
        return self._definitions.function_called(call) is None

    def _closure(self, call: ast.Call) -> FunctionNode | None:
        """The function that ``optimizer.step(closure)`` runs."""
        if call.args and isinstance(call.args[0], ast.Name):
            bindings = self._names.bindings(call.args[0])
            if len(bindings) == 1 and isinstance(bindings[0].node, FUNCTIONS):
                return bindings[0].node
        return None

    def _is_of_framework(self, call: ast.Call, func: ast.Attribute) -> bool:
        """``accelerator.backward(loss)``, ``fabric.backward(loss)``, ``self.manual_backward(loss)``."""
        if func.attr == "manual_backward":
            return True
        return len(call.args) == 1 and not call.keywords and self._kinds.value(func.value).kind is not Kind.TENSOR

    def _manual_update(self, gradient: ast.Attribute) -> ast.stmt | None:
        """The statement that changes ``p`` in place by ``p.grad``, if this is the gradient in it."""
        statement = self._tree.statement_of(gradient)
        target: ast.expr | None = None
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Sub):
            target = statement.target
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            func = statement.value.func
            if isinstance(func, ast.Attribute) and func.attr in ("add_", "sub_") and not self._tree.encloses(func, gradient):
                target = func.value
        if target is None:
            return None
        if isinstance(target, ast.Attribute) and target.attr == "data":
            target = target.value
        if ast.dump(target).replace("Store()", "Load()") != ast.dump(gradient.value):
            return None
        owner = self._tree.class_of(statement)
        if owner is not None and any((self._names.qualified(base) or "").startswith("torch.optim.") for base in owner.bases):
            return None  # the definition of an optimizer
        return statement

    def is_update(self, call: ast.Call, func: ast.Attribute) -> bool:
        """Whether ``x.step(...)`` updates parameters."""
        kind = self._kinds.value(func.value).kind
        if kind is Kind.OPTIMIZER:
            return True
        return kind is Kind.SCALER and len(call.args) >= 1

    def _compiled_step(self, call: ast.Call) -> FunctionNode | None:
        """``step = torch_xla.compile(fn)`` and then ``step(...)``: the function fn."""
        if not isinstance(call.func, ast.Name):
            return None
        for binding in self._names.bindings(call.func):
            if binding.kind == "assign" and isinstance(binding.value, ast.Call):
                if self._names.qualified(binding.value.func) == "torch_xla.compile" and binding.value.args:
                    target = binding.value.args[0]
                    if isinstance(target, ast.Name):
                        found = self._names.bindings(target)
                        if len(found) == 1 and isinstance(found[0].node, FUNCTIONS):
                            return found[0].node
            elif isinstance(binding.node, FUNCTIONS):
                for decorator in binding.node.decorator_list:
                    target = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if self._names.qualified(target) == "torch_xla.compile":
                        return binding.node
        return None

    def _iterates_device_loader(self, node: ast.expr, depth: int = 0) -> bool:
        if depth > 4:
            return False
        if isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            if name in _BOUNDARY_LOADERS:
                return True
            if isinstance(node.func, ast.Attribute) and node.func.attr == "per_device_loader":
                return True
            if name in facts.ITERABLE_WRAPPERS and node.args:
                return self._iterates_device_loader(node.args[0], depth + 1)
            return False
        if isinstance(node, ast.Name):
            for binding in self._names.bindings(node):
                if binding.kind == "assign" and binding.value is not None:
                    if self._iterates_device_loader(binding.value, depth + 1):
                        return True
                if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                    for call in self._definitions.calls_of(binding.statement)[:8]:
                        for argument in (*call.args, *(k.value for k in call.keywords if k.arg == binding.name)):
                            if isinstance(argument, ast.Name | ast.Call) and self._passed(call, argument, binding.statement, binding.name):
                                if self._iterates_device_loader(argument, depth + 1):
                                    return True
        return False

    def _passed(self, call: ast.Call, argument: ast.expr, function: FunctionNode, name: str) -> bool:
        positions = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
        if any(k.value is argument and k.arg == name for k in call.keywords):
            return True
        offset = 1 if positions[:1] in (["self"], ["cls"]) else 0
        return argument in call.args and name in positions and call.args.index(argument) + offset == positions.index(name)

    # ---------------------------------------------------------------- loops

    def _loops_within(self, holder: ast.AST) -> list[LoopNode]:
        return [loop for loop in self._loops if self._holder(loop) is holder]

    def _summary(self, holder: ast.AST, seen: tuple[ast.AST, ...] = (), into_loops: bool = True) -> _Events:
        """Events of a loop body or function, with those of nested loops and called functions."""
        total = _Events()
        if holder in seen or len(seen) > _CALL_DEPTH:
            return total
        seen = (*seen, holder)
        direct = self._direct.get(holder)
        parts = [direct] if direct is not None else []
        for function in self._called.get(holder, ()):
            if function not in seen:
                part = self._summary(function, seen)
                part.functions.insert(0, function)
                parts.append(part)
        if into_loops:
            parts.extend(self._summary(loop, seen) for loop in self._loops_within(holder))
        for part in parts:
            total.backwards.extend(part.backwards)
            total.updates.extend(part.updates)
            total.manual_updates.extend(part.manual_updates)
            total.boundaries.extend(part.boundaries)
            total.functions.extend(f for f in part.functions if f not in total.functions)
        return total

    def _find_step_loops(self) -> list[StepLoop]:
        """Loops with both events, those of step loops below them, directly or through calls, left out."""
        summaries = {loop: self._summary(loop) for loop in self._loops}
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
            loop.boundaries, loop.functions = events.boundaries, events.functions
            if inner:
                loop.boundaries = [item for item in events.boundaries if not any(item in other.boundaries for other in inner)]
                loop.functions = [item for item in events.functions if not any(item in other.functions for other in inner)]
            if loop.backwards and (loop.updates or loop.manual_updates):
                result.append(loop)
        return result

    def _runs(self, outer: LoopNode, inner: LoopNode, events: _Events) -> bool:
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
                for function in (self._definitions.function_called(node), self._compiled_step(node), self._closure(node)):
                    if function is not None and function in self._per_step:
                        always.add(function)
                        todo.append(function)
        return {function for function in self._per_step if function not in always}

    def _find_evaluation_loops(self) -> list[LoopNode]:
        """Loops that run a module without a backward pass, under no_grad or after ``eval()``."""
        result = []
        for loop in self._loops:
            events = self._summary(loop)
            if events.backwards or events.updates or self.step_loop_of(loop) is not None and self._tree.encloses(
                self.step_loop_of(loop).node, loop  # type: ignore[union-attr]
            ) and not self._without_gradient(loop):
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
            isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".", 1)[0] == "accelerate"
            or isinstance(statement, ast.Import) and any(alias.name == "accelerate" for alias in statement.names)
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
        result: list[ast.AST] = []
        holders: list[ast.AST] = []
        for node in (statement, *self._tree.inside(statement, functions=False)):
            if isinstance(node, ast.Call):
                function = self._definitions.function_called(node)
                if function is not None:
                    holders.append(function)
        for holder, events in self._direct.items():
            if holder is not None:
                result.extend(e for e in (*events.updates, *events.manual_updates) if self._tree.encloses(statement, e))
        for function in holders:
            summary = self._summary(function)
            result.extend((*summary.updates, *summary.manual_updates))
        return result

    def functions_in(self, holder: ast.AST) -> list[FunctionNode]:
        """Functions of this file that a loop body or function runs, those called by them included."""
        return self._summary(holder).functions

    def boundaries_in(self, holder: ast.AST) -> list[ast.AST]:
        """Step boundaries that a loop body or function sets, through the functions it calls as well."""
        return self._summary(holder).boundaries

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
            if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child) and ancestor in self.evaluation_loops:
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
            if isinstance(ancestor, ast.If) and self._tree.in_body(ancestor, child) and self._is_interval(ancestor.test):
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
                if called == "builtins.range" or called == "builtins.enumerate" and binding.path == (0,):
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
