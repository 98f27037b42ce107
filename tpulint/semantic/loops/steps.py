"""Steps: the code that runs forward pass, backward pass and update once, as the body of a loop or as a function."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.loops.possible_calls import PossibleCalls
from tpulint.semantic.project.outside import STEP, OutsideCall, qualified_in_file
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from tpulint.semantic.project.imported import Imported

    _Node = TypeVar("_Node", bound=ast.AST)

_DEPTH = 4
"""Functions through which a loss is handed on."""
_ENGINES = ("ignite.engine.Engine", "ignite.engine.engine.Engine")
"""What runs a function with every batch, and sets no boundary."""
_FRAMEWORKS = (
    "torch_xla.", "tpulint_runtime.", "accelerate.", "lightning.", "pytorch_lightning.", "lightning_fabric.",
    "transformers.",
)  # fmt: skip
"""What may run a function in turns of its own, and ends each of them."""


class Step:
    """What one step does, and where."""

    __slots__ = ("backwards", "boundaries", "functions", "is_certain", "manual_updates", "node", "updates")
    node: LoopNode | FunctionNode

    def __init__(self, node: LoopNode | FunctionNode) -> None:
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
        """Step boundaries found: ``torch_xla.sync()``, ``barrier=True``, a device loader, ``torch_xla.step()``, the
        backward pass of a training framework, which sets boundaries of its own."""
        self.functions: list[FunctionNode] = []
        """Functions of this file that run in every step, those called by them included."""


class StepLoop(Step):
    """The innermost loop that holds both the backward pass and the optimizer's update."""

    __slots__ = ()
    node: LoopNode


class StepFunction(Step):
    """A function that trains one step and that nothing in this file calls for sure: the loop stands elsewhere."""

    __slots__ = ("is_ended",)
    node: FunctionNode

    def __init__(self, node: FunctionNode) -> None:
        super().__init__(node)
        self.is_ended = False
        """Whether what may call it sets a step boundary, or runs it within a step of its own."""


class CalledStep(Step):
    """A function that a loop of another file runs in every turn, without being the step itself."""

    __slots__ = ("call",)
    node: FunctionNode

    def __init__(self, node: FunctionNode, call: OutsideCall) -> None:
        super().__init__(node)
        self.call = call


class StepFunctions:
    """Finds them."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        definitions: Definitions,
        events: EventMap,
        imported: Imported,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._events = events
        self._imported = imported
        self._possible = PossibleCalls(tree, names, definitions, events)
        self._calls_of_others = [call for call in outside if call.turn == STEP]
        self._give_losses = {call.function for call in outside if call.gives_loss}
        """Functions that train beside the step of another file which calls them: a net that helps with its loss."""

    def find(self, loops: list[StepLoop], per_step: Container[FunctionNode]) -> list[StepFunction]:
        """Functions with a step of their own, beside those of these loops, in order of position."""
        found = []
        backwards = {item for loop in loops for item in loop.backwards}
        updates = {item for loop in loops for item in loop.updates}
        manual_updates = {item for loop in loops for item in loop.manual_updates}
        boundaries = {item for loop in loops for item in loop.boundaries}
        functions = {item for loop in loops for item in loop.functions}
        for function in self._tree.functions:
            is_called = function.name == "__call__" and self._tree.class_of(function) is not None
            is_special = function.name.startswith("__") and not is_called
            if function in per_step or is_special or function.name.startswith("test"):
                continue
            events = self._events.of(function)
            is_known = bool(events.updates or events.manual_updates)
            if not events.backwards or not (is_known or events.candidates):
                continue
            in_engine = self._runs_in_engine(function)
            if not is_known and not in_engine:
                continue
            step = StepFunction(function)
            step.is_certain = is_known
            step.backwards = [item for item in events.backwards if item not in backwards]
            step.updates = [item for item in events.updates if item not in updates]
            if not is_known:
                step.updates = list(events.candidates)
            step.manual_updates = [item for item in events.manual_updates if item not in manual_updates]
            step.boundaries = [item for item in events.boundaries if item not in boundaries]
            step.functions = [item for item in events.functions if item not in functions]
            trains = step.backwards and (step.updates or step.manual_updates)
            if not trains or self._is_helper(step) or qualified_in_file(self._tree, function) in self._give_losses:
                continue
            if in_engine or (self._is_called_elsewhere(function) and not self._makes_optimizers(step)):
                step.is_ended = not in_engine and self._is_ended(function)
                found.append(step)
        return found

    def _makes_optimizers(self, step: StepFunction) -> bool:
        """Whether a function makes the optimizers itself that it steps, to fit something once: no loop shares them.

        It gives them a closure, ``optimizer.step(closure)`` of ``optimizer = LBFGS([self.temperature])``, or its own.
        """
        stepped = [update.func.value for update in step.updates if isinstance(update.func, ast.Attribute)]
        made = [self._names.bindings(item) if isinstance(item, ast.Name) else [] for item in stepped]
        has_closures = all(update.args for update in step.updates)
        return (
            bool(stepped)
            and len(stepped) == len(step.updates)
            and all(
                bool(bindings)
                and all(
                    isinstance(one.value, ast.Call)
                    and not one.path
                    and self._is_optimizer(one.value)
                    and self._tree.function_of(one.node) is step.node
                    and (has_closures or self._is_of_own(one.value, step.node))
                    for one in bindings
                )
                for bindings in made
            )
        )

    def _is_of_own(self, made: ast.Call, function: FunctionNode) -> bool:
        """Whether an optimizer gets what the function around it makes, ``Adam([temperature])``, and nothing else."""
        inside = (part for item in made.args[:1] for part in ast.walk(item))
        parts = [part for part in inside if isinstance(part, ast.Name | ast.Attribute)]
        return bool(parts) and all(
            isinstance(part, ast.Name)
            and all(
                one.kind == "assign" and self._tree.function_of(one.node) is function
                for one in self._names.bindings(part)
            )
            for part in parts
        )

    def _is_optimizer(self, made: ast.Call) -> bool:
        name = self._names.qualified(made.func) or ""
        return name.startswith("torch.optim.") and "lr_scheduler" not in name

    def _runs_in_engine(self, function: FunctionNode) -> bool:
        """Whether a function is given to what calls it with every batch: ``Engine(update)``."""
        for mention in self._names.mentions_of(function):
            user = self._tree.parents[mention]
            call = self._tree.parents[user] if isinstance(user, ast.keyword) else user
            if isinstance(call, ast.Call) and self._names.qualified(call.func) in _ENGINES:
                return True
        return False

    @cached_property
    def _updates(self) -> set[ast.Call]:
        """What any function of the file calls of optimizers."""
        return {update for function in self._tree.functions for update in self._events.of(function).updates}

    def _is_called_elsewhere(self, function: FunctionNode) -> bool:
        """Whether nothing in the file calls a function for sure, by its name or through the class that defines it.

        ``step`` is the name of what it calls of optimizers, too, and a derived class may run it within its own.
        """
        if not all(map(self._possible.is_of_base, self._definitions.calls_of(function))):
            return False
        for mention in self._names.mentions_of(function):
            parent = self._tree.parents[mention]
            if not self._possible.means(mention, function):
                continue
            # What is kept under another name is called by that.
            given = self._tree.parents[parent] if isinstance(parent, ast.keyword) else parent
            if isinstance(parent, ast.Assign) or self._sets_boundaries(given):
                return False
        return True

    def _sets_boundaries(self, call: ast.AST) -> bool:
        """Whether a function is given to what ends the steps that it runs: ``torch_xla.compile(step)``."""
        name = self._names.qualified(call.func) if isinstance(call, ast.Call) else None
        return name is not None and name.startswith(_FRAMEWORKS)

    def _is_ended(self, function: FunctionNode) -> bool:
        """Whether code that may run a function, in this file or known from another, ends the step or is one itself."""
        name = qualified_in_file(self._tree, function)
        known = [call.ends_step for call in self._calls_of_others if call.function == name]
        if known and all(known):
            return True
        for mention in self._names.mentions_of(function):
            parent = self._tree.parents[mention]
            call = self._tree.parents[parent] if isinstance(parent, ast.keyword) else parent
            if not isinstance(call, ast.Call) or call in self._updates or not self._possible.means(mention, function):
                continue
            is_run = self._possible.may_run(call, function) if call.func is mention else True
            if is_run and (self._possible.are_ended(mention) or (call.func is not mention and self._may_end(call))):
                return True
        return False

    def _may_end(self, call: ast.Call) -> bool:
        """Whether what a function is given to, to be run, may end its steps: nobody sees it, or it has boundaries."""
        if (self._names.qualified(call.func) or "").startswith("builtins."):
            return False
        found = self._imported.all_called(call)
        return not found or any(
            bool(one.file.own_events.of(one.node).boundaries)
            if isinstance(one.node, FUNCTIONS) and one.node.name != "__init__"
            else "xla" in one.file.source.text
            for one in found
        )

    def _is_own(self, update: ast.Call) -> bool:
        """Whether an update is that of an optimizer of its class, whose method trains with a loss that it is given."""
        optimizer = update.func.value if isinstance(update.func, ast.Attribute) else None
        owner = self._tree.class_of(update)
        if owner is None or not isinstance(optimizer, ast.Attribute) or not isinstance(optimizer.value, ast.Name):
            return False
        made = [binding.value for binding in self._names.attribute_bindings(owner, optimizer.attr)]
        return any(self._is_optimizer(value) for value in made if isinstance(value, ast.Call))

    def _is_helper(self, step: StepFunction) -> bool:
        """Whether a function only updates for the steps of others, with a loss that it is given: a gradient scaler."""
        roots = [self._root_of_loss(call.func) for call in step.backwards]
        given = any(root is not None and self._is_given(root, step, 0) for root in roots)
        return given and not any(map(self._is_own, step.updates))

    def _root_of_loss(self, root: ast.expr) -> ast.Name | None:
        """``loss`` of ``loss.backward`` and ``scaler.scale(loss).backward``."""
        while not isinstance(root, ast.Name):
            if isinstance(root, ast.Call) and root.args:
                root = root.args[0]
            elif isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            elif isinstance(root, ast.Call):
                root = root.func
            else:
                return None
        return root

    def _is_given(self, loss: ast.Name, step: StepFunction, depth: int) -> bool:
        """Whether a loss is a parameter of a step, and not only of a function that the step gives one of its own."""
        bindings = self._names.bindings(loss)
        is_self = self._tree.class_of(loss) is not None and loss.id in ("self", "cls")
        if not bindings or is_self or not all(binding.kind == "parameter" for binding in bindings):
            return False
        function = self._tree.function_of(bindings[0].node)
        if function is None or function is step.node or depth > _DEPTH:
            return True
        arguments = self._definitions.arguments
        passed = arguments.of(function, loss.id) + arguments.through_partials(function, loss.id)
        within = (step.node, *step.functions)
        roots = [self._root_of_loss(item) for item in passed if self._tree.function_of(item) in within]
        return all(root is not None and self._is_given(root, step, depth + 1) for root in roots)


def find_step_loops(tree: SyntaxTree, events: EventMap, loops: list[LoopNode]) -> list[StepLoop]:
    """Loops with both events, those of step loops below them, directly or through calls, left out."""
    both = {loop: found for loop in loops if (found := events.of(loop)).has_step}
    by_function: dict[FunctionNode, list[LoopNode]] = {}
    below: dict[LoopNode, list[LoopNode]] = {}
    for node in both:
        for ancestor in tree.ancestors(node):
            if isinstance(ancestor, FUNCTIONS):
                by_function.setdefault(ancestor, []).append(node)
                break
            if isinstance(ancestor, LOOPS) and ancestor in both:
                below.setdefault(ancestor, []).append(node)
    result = []
    for node, found in both.items():
        called = (loop for function in found.functions for loop in by_function.get(function, ()))
        inner = [both[loop] for loop in (*below.get(node, ()), *called) if loop is not node]
        loop = StepLoop(node)
        loop.backwards = _alone(found.backwards, [other.backwards for other in inner])
        loop.updates = _alone(found.updates, [other.updates for other in inner])
        loop.manual_updates = _alone(found.manual_updates, [other.manual_updates for other in inner])
        if not loop.updates and not loop.manual_updates:
            loop.updates = _alone(found.candidates, [other.candidates for other in inner])
            loop.is_certain = False
        boundaries = _alone(found.boundaries, [other.boundaries for other in inner])
        loop.boundaries = [item for item in boundaries if _ends_step(tree, events, item, node)]
        loop.functions = _alone(found.functions, [other.functions for other in inner])
        if loop.backwards and (loop.updates or loop.manual_updates):
            result.append(loop)
    return result


def _alone(found: list[_Node], inner: list[list[_Node]]) -> list[_Node]:
    """What a loop runs that no step loop below it does."""
    return [item for item in found if not any(item in other for other in inner)]


def _ends_step(tree: SyntaxTree, events: EventMap, boundary: ast.AST, step: LoopNode) -> bool:
    """Whether no loop that neither runs backward nor updates, such as that of a generation, has the boundary."""
    for ancestor in tree.ancestors(boundary):
        if ancestor is step:
            break
        if isinstance(ancestor, LOOPS):
            done = events.of(ancestor)
            if not (done.backwards or done.updates or done.manual_updates or done.candidates):
                return False
    return True
