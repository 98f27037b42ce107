"""What each loop body or function of a file does for a step itself, without what it calls."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.framework_steps import FrameworkSteps
from tpulint.semantic.loops.gradient_switches import GradientSwitches
from tpulint.semantic.modules.updates import Updates, gives_gradients
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode, is_of_self
from tpulint.semantic.syntax.torch_facts import RUNTIME
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kind, Kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.loops.delegated_events import DelegatedEvents

SYNCS = frozenset({"torch_xla.sync", "torch_xla.core.xla_model.mark_step", f"{RUNTIME}.sync"})
"""Calls that end a step and do nothing else."""
OPTIMIZER_STEP = "torch_xla.core.xla_model.optimizer_step"
_OTHER_BOUNDARIES = frozenset({"torch_xla.step", "torch_xla.debug.profiler.StepTrace"})
_NESTED = 2
"""Collections in one another in which losses are looked for."""


class Events:
    """What one piece of code does, itself and through the functions it calls."""

    __slots__ = ("backwards", "boundaries", "candidates", "functions", "manual_updates", "updates")

    def __init__(self) -> None:
        self.backwards: list[ast.Call] = []
        self.updates: list[ast.Call] = []
        self.manual_updates: list[ast.stmt] = []
        self.candidates: list[ast.Call] = []
        """Calls of ``step()`` on nobody knows what: updates, where a loop with a backward pass has no other."""
        self.boundaries: list[ast.AST] = []
        self.functions: list[FunctionNode] = []

    @property
    def has_step(self) -> bool:
        """Whether both the backward pass and an update are there."""
        return bool(self.backwards and (self.updates or self.manual_updates or self.candidates))

    def add(self, other: Events) -> None:
        """Take in what a part does."""
        self.backwards.extend(other.backwards)
        self.updates.extend(other.updates)
        self.manual_updates.extend(other.manual_updates)
        self.candidates.extend(other.candidates)
        self.boundaries.extend(other.boundaries)
        self.functions.extend(function for function in other.functions if function not in self.functions)


class DirectEvents:
    """The events of a file, by the innermost loop body or function that has them; None for the module."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        kinds: Kinds,
        definitions: Definitions,
        updates: Updates,
        delegated: DelegatedEvents | None,
        left_to_derived: Collection[str],
    ) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions
        self._updates = updates
        self._delegated = delegated
        self._left_to_derived = left_to_derived
        """Methods, ``Trainer.step``, whose backward pass classes of other files have."""
        self._frameworks = FrameworkSteps(tree, names, kinds, definitions)
        self.of_holders: dict[ast.AST | None, Events] = {}
        self.loops_in: dict[ast.AST | None, list[LoopNode]] = {}
        self.in_loaders: set[ast.AST] = set()
        """Boundaries that stand for those which a framework sets in its loaders: where a turn begins, not there."""

    @property
    def have_step(self) -> bool:
        """Whether there is both a backward pass and an update anywhere in the file."""
        every = self.of_holders.values()
        return any(one.backwards for one in every) and any(
            one.updates or one.manual_updates or one.candidates for one in every
        )

    def at(self, node: ast.AST) -> Events:
        """Events of the code that runs a node, to add to."""
        return self.of_holders.setdefault(self.holder_of(node), Events())

    def holder_of(self, node: ast.AST) -> ast.AST | None:
        """The innermost loop body or function that runs the node; None for the module."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child):
                return ancestor
            if isinstance(ancestor, (*FUNCTIONS, ast.Lambda)):
                return ancestor
            child = ancestor
        return None

    # ---------------------------------------------------------------- collecting

    def collect(self) -> None:
        """Look at all of the file."""
        for call in self._tree.calls:
            self._collect_call(call)
        if self._delegated is not None:
            # The other files are read for it: only where this one has no step, or what looks like a framework's.
            frameworks = [call for one in self.of_holders.values() for call in one.backwards if call in one.boundaries]
            for call in frameworks if self.have_step else self._tree.calls:
                self._collect_delegated(call, self._delegated)
        for name in self._left_to_derived:
            self._collect_left(*name.split("."))
        for attribute in self._tree.attributes_called("grad"):
            if isinstance(attribute.ctx, ast.Load):
                statement = self._updates.manual_update(attribute)
                if statement is not None:
                    manual = self.at(statement).manual_updates
                    if statement not in manual:
                        manual.append(statement)
                else:
                    self._collect_written_out(attribute)
        self._collect_loops()

    def _collect_left(self, owner: str, method: str) -> None:
        """Note ``losses = self.step(batch)`` of a class whose derived classes run the backward pass in that method."""
        for attribute in self._tree.attributes_called(method):
            call, around = self._tree.parents[attribute], self._tree.class_of(attribute)
            is_call = isinstance(call, ast.Call) and call.func is attribute and is_of_self(attribute)
            above = self._names.classes_above(around) if is_call and around is not None else ()
            if isinstance(call, ast.Call) and any(one.name == owner for one in above):
                self.at(call).backwards.append(call)

    def _collect_written_out(self, gradient: ast.Attribute) -> None:
        """Note the change of ``p`` in ``g = p.grad; buffer.mul_(0.9).add_(g); p.data.add_(buffer, alpha=-lr)``."""
        function = self._tree.function_of(gradient)
        if function is None or not isinstance(gradient.value, ast.Name) or self._updates.is_of_optimizer(gradient):
            return
        changed = gradient.value.id
        for node in self._tree.inside(function, functions=False):
            call = self._updates.change_of(node, changed)
            if call is not None and self._tree.start(call) > self._tree.start(gradient):
                candidates = self.at(call).candidates
                if call not in candidates:
                    candidates.append(call)

    def collect_boundaries(self) -> None:
        """Look at step boundaries alone."""
        if "xla" in self._tree.source.text or "tpulint_runtime" in self._tree.source.text:
            for call in self._tree.calls:
                if self._is_boundary(call):
                    self.at(call).boundaries.append(call)
        self._collect_loops()

    def _collect_loops(self) -> None:
        loaders = None
        if "xla" in self._tree.source.text:
            from tpulint.semantic.batches.device_loaders import DeviceLoaders

            loaders = DeviceLoaders(self._names, self._definitions)
        for loop in self._tree.loops:
            self.loops_in.setdefault(self.holder_of(loop), []).append(loop)
            if loaders is not None and isinstance(loop, ast.For) and loaders.iterates(loop.iter):
                self.of_holders.setdefault(loop, Events()).boundaries.append(loop.iter)
        if loaders is None:
            return
        for name in self._tree.names_called("next"):
            call = self._tree.parents[name]
            if isinstance(call, ast.Call) and call.func is name and call.args and loaders.iterates(call.args[0]):
                self.at(call).boundaries.append(call)

    def _is_boundary(self, call: ast.Call) -> bool:
        """Whether a call ends a step: a sync, a step context, a compiled step."""
        name = self._names.qualified(call.func)
        return name in SYNCS or name in _OTHER_BOUNDARIES or self._definitions.is_compiled_step(call)

    def _collect_call(self, call: ast.Call) -> None:
        func = call.func
        name = self._names.qualified(func)
        if self._is_boundary(call):
            self.at(call).boundaries.append(call)
        elif name == OPTIMIZER_STEP:
            self.at(call).updates.append(call)
            if any(k.arg == "barrier" and isinstance(k.value, ast.Constant) and k.value.value for k in call.keywords):
                self.at(call).boundaries.append(call)
        elif name == "torch.autograd.backward" or (name == "torch.autograd.grad" and self._fills_gradients(call)):
            self.at(call).backwards.append(call)
        elif name == "torch.autograd.grad":
            self._collect_asked(call)
        elif name is None and any(k.arg == "parameters" for k in call.keywords) and len(call.args) > 1:
            # A loss scaler of timm's kind: `loss_scaler(loss, optimizer, parameters=model.parameters())`.
            if self._updates.is_optimizer(call.args[1]):
                self.at(call).backwards.append(call)
                self.at(call).updates.append(call)
        elif isinstance(func, ast.Attribute) and func.attr in ("backward", "manual_backward"):
            # A method of this file is followed instead.
            if self._definitions.function_called(call) is None:
                self.at(call).backwards.append(call)
                if self._frameworks.are_asked(call, func) and not self._frameworks.prepare_no_loader:
                    self.at(call).boundaries.append(call)
                    self.in_loaders.add(call)
        elif isinstance(func, ast.Attribute) and func.attr == "step":
            if self._updates.is_update(call):
                self.at(call).updates.append(call)
            elif self._updates.may_be_update(call, func):
                self.at(call).candidates.append(call)
        elif isinstance(func, ast.Attribute) and "step" in func.attr and self._updates.is_wrapped_update(call, func):
            self.at(call).candidates.append(call)
        elif isinstance(func, ast.Name) and self._updates.is_handed_on(call):
            self.at(call).updates.append(call)
        elif isinstance(func, ast.Name) and self._updates.is_closure_run(call):
            self.at(call).backwards.append(call)

    def _fills_gradients(self, call: ast.Call) -> bool:
        """Whether the function that asks for gradients gives them to parameters: ``p.grad = found[i] / n``.

        It may leave that to another one, of this file or of another: ``put_into(model, found)``.
        """
        function = self._tree.function_of(call)
        if gives_gradients(self._tree, function):
            return True
        for other in self._tree.calls:
            if self._tree.function_of(other) is not function or not (other.args or other.keywords):
                continue
            called = self._definitions.function_called(other)
            if called is not None and gives_gradients(self._tree, called):
                return True
            if called is None and self._delegated is not None and self._delegated.gives_gradients(other):
                return True
        return False

    def _collect_asked(self, call: ast.Call) -> None:
        """Note the changes of parameters by gradients that are asked for: ``p.sub_(rate * g)``."""
        from tpulint.semantic.loops.asked_gradients import AskedGradients

        function = self._tree.function_of(call)
        if function is not None and any(map(self._definitions.is_compiled_for_xla, self._names.mentions_of(function))):
            return  # one graph is made of it
        changes = AskedGradients(self._tree, self._names).changes_by(call)
        if changes:
            self.at(call).backwards.append(call)
        for statement in changes:
            self.at(statement).manual_updates.append(statement)

    def _collect_delegated(self, call: ast.Call, delegated: DelegatedEvents) -> None:
        """Note what a function of another file does for a call."""
        if self._definitions.function_called(call) is not None:
            return
        parts = delegated.of(call, self.modes)
        if not parts:
            return
        runs_backward = all(
            (part.losses or part.has_own_loss) and all(map(self._may_be_loss, part.losses)) for part in parts
        )
        updates = all(part.updates or any(map(self._updates.is_optimizer, part.stepped)) for part in parts)
        own = self.at(call)
        if runs_backward and call not in own.backwards:
            own.backwards.append(call)
        elif runs_backward:
            own.boundaries = [item for item in own.boundaries if item is not call]
            self.in_loaders.discard(call)
        if updates and call not in own.updates:
            own.updates.append(call)
            own.candidates = [item for item in own.candidates if item is not call]
        elif runs_backward and all(part.updates or part.may_update for part in parts) and call not in own.candidates:
            own.candidates.append(call)
        if (runs_backward or updates) and any(part.has_boundary for part in parts) and call not in own.boundaries:
            own.boundaries.append(call)

    def _may_be_loss(self, given: ast.expr, depth: int = 0) -> bool:
        """Whether what a call gives may be a loss, or holds one: no number that scales it, ``train(model, 0.1)``."""
        kind = self._kinds.value(given).kind
        if kind is not Kind.HOST or depth > _NESTED:
            return kind is Kind.TENSOR or (kind is Kind.UNKNOWN and not depth)
        return any(self._may_be_loss(item, depth + 1) for item in self._kinds.contents.of(given))

    @cached_property
    def modes(self) -> GradientSwitches:
        """Where gradients are off."""
        return GradientSwitches(self._tree, self._names, self._kinds, self._definitions, ())
