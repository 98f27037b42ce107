"""Code that runs in every turn of a step or evaluation loop: its body, the functions it calls, the forward passes."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.functions.definitions import is_property
from tpulint.semantic.project.outside import EVALUATION as EVALUATION
from tpulint.semantic.project.outside import STEP as STEP
from tpulint.semantic.reads.reads import Read
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode, is_of_self
from tpulint.semantic.values.kinds import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from tpulint.semantic import SemanticIndex

    Node = TypeVar("Node", bound=ast.AST)

_METHODS = 3
"""Methods of a module that one is followed back through."""
_PROPERTIES = ("@property",)
_HOOKS = ("_hook(",)


class TurnCode:
    """Tells for any node whether, and for what, it runs in every turn. What only a log interval runs does not."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        regions = index.regions
        self._loops: dict[LoopNode, str] = dict.fromkeys(regions.evaluation_loops, EVALUATION)
        self._loops.update((loop.node, STEP) for loop in regions.step_loops)
        self._functions: dict[FunctionNode, str] = {}
        self._nodes: dict[type[ast.AST], list[ast.AST]] | None = None
        self._sorted: set[type[ast.AST]] = set()
        for loop in regions.step_loops:
            chosen = regions.chosen_in(loop.node)
            self._follow([f for f in (*loop.functions, *chosen) if not regions.is_gated(f)], STEP)
        for step in regions.step_functions:  # `agent.learn(x)`, whatever calls it
            self._follow([step.node, *(f for f in step.functions if not regions.is_gated(f))], STEP)
        for node in regions.evaluation_loops:
            self._follow(regions.evaluated_in(node), EVALUATION)
        self._elements = frozenset(listed.elt for listed in regions.listed_evaluations)
        """What comprehensions that evaluate make of each batch."""
        for functions in regions.listed_evaluations.values():
            self._follow(functions, EVALUATION)
        for called in regions.called_steps:
            self._follow([called.node], called.call.turn)
        for driver in regions.drivers.loops.values():
            if driver.call.turn == STEP:
                self._loops[driver.node] = STEP
                self._follow(driver.functions, STEP)
        self._drawn: dict[LoopNode, str] = {}
        """Loops of generators that make a batch for each turn."""
        for maker in index.batch_makers.all if "yield" in index.source.text else ():
            if maker.is_drawn and isinstance(maker.loop, LOOPS) and maker.loop not in self._loops:
                self._drawn[maker.loop] = maker.turn
                for call in index.tree.nodes_in(maker.loop, ast.Call, functions=False):
                    self._follow(regions.events.functions_of(call), maker.turn)
        for node, turn in self._loops.items():
            self._follow(self._properties_read_in(node), turn)
        if self._loops or self._elements:
            self._follow(list(self._forwards()), STEP if regions.step_loops else EVALUATION)
        self._hooks: frozenset[FunctionNode] = frozenset()
        if index.source.has_any(_HOOKS):
            from tpulint.semantic.functions.registered_hooks import RegisteredHooks

            loops = [loop for loop, turn in self._loops.items() if turn == STEP]
            functions = [function for function, turn in self._functions.items() if turn == STEP]
            self._hooks = frozenset(RegisteredHooks(index, loops, functions).run())
            self._follow(list(self._hooks), STEP)

    @property
    def exists(self) -> bool:
        """Whether any code of the file runs in the turns of a loop, be it a loop of another file."""
        return bool(self._loops or self._elements or self._functions or self._drawn)

    def turn_made_in(self, loop: ast.AST) -> str | None:
        """What the turns are called that a loop goes through, or that take what it yields; None for any other loop."""
        return self._loops.get(loop, self._drawn.get(loop))  # type: ignore[call-overload, no-any-return]

    @property
    def loops(self) -> dict[LoopNode, str]:
        """Step loops and evaluation loops, with what a turn of theirs is called."""
        return self._loops

    @cached_property
    def reads(self) -> list[tuple[Read, str]]:
        """Host reads in functions that every turn runs and that no step calls itself, with what the turn is called.

        These are the forward passes, hooks of modules, what they call, and what evaluation loops call.
        """
        index = self._index
        steps = (*index.steps, *index.regions.steps_across_files)
        handed = any(side == Side.DEVICE.name for call in index.outside for _, _, side in call.arguments)
        per_step = {function for step in steps for function in (step.node, *step.functions)}
        found = []
        for function, turn in self._functions.items():
            if function in per_step:
                continue
            for read in index.reads.inside(function):
                computes = any(isinstance(node, ast.Call) for node in ast.walk(read.tensor))
                in_forward = handed and computes and function.name == "forward"
                is_of_hook = function in self._hooks
                on_device = read.certain or in_forward or is_of_hook or not self._is_given(read.tensor)
                if on_device and self.turn_of(read.node) == turn and not self._is_of_numbers(read.tensor):
                    found.append((read, turn))
        return found

    @cached_property
    def lambda_reads(self) -> list[tuple[Read, str]]:
        """Host reads in lambdas that every turn gives a tensor of the device: ``as_array = lambda x: x.cpu().numpy()``.

        What is computed in front of a boundary in any case may be fetched so behind it.
        """
        index = self._index
        found: dict[ast.AST, tuple[Read, str]] = {}
        for call in self.nodes(ast.Call) if "lambda" in index.source.text else ():
            turn = self.turn_of(call) if isinstance(call.func, ast.Name) and len(call.args) == 1 else None
            if turn is None or not isinstance(call.func, ast.Name):
                continue
            made = [binding.value for binding in index.names.bindings(call.func)]
            if not all(isinstance(value, ast.Lambda) for value in made) or not index.is_device_tensor(call.args[0]):
                continue
            is_late = any(map(index.regions.boundaries_in, self._loops))
            for value in made:
                body = value.body if isinstance(value, ast.Lambda) else call
                for read in index.reads.inside(body):
                    calls = [node.func for node in ast.walk(read.tensor) if isinstance(node, ast.Call)]
                    computes = any(not isinstance(func, ast.Attribute) or func.attr != "detach" for func in calls)
                    if (computes or not is_late) and (turn == STEP or read.node not in found):
                        found[read.node] = (read, turn)
        return list(found.values())

    def _is_of_numbers(self, tensor: ast.expr) -> bool:
        """Whether a function of this file makes a value, and is given no tensor: what it makes of those of others."""
        index = self._index
        function = index.definitions.function_called(tensor) if isinstance(tensor, ast.Call) else None
        if function is None or not isinstance(tensor, ast.Call) or index.tree.class_of(function) is not None:
            return False
        given = [*tensor.args, *(item.value for item in tensor.keywords)]
        return bool(given) and all(index.kind(item) in (Kind.UNKNOWN, Kind.HOST) for item in given)

    def _is_given(self, tensor: ast.expr) -> bool:
        """Whether a tensor is made of nothing but what the function was given: that may be on the host all the time."""
        names = [node for node in ast.walk(tensor) if isinstance(node, ast.Name) and node.id != "self"]
        tensors = [name for name in names if self._index.kind(name) is Kind.TENSOR]
        given = bool(tensors) and all(
            any(binding.kind == "parameter" for binding in self._index.flow.reaching(name)) for name in tensors
        )
        return given and not any(map(self._index.moved_tensors.has, tensors))

    def turn_of(self, node: ast.AST) -> str | None:
        """What the turn is called in which the node runs every time: ``step``, ``evaluation batch``; else None."""
        if not self.exists or self._index.regions.gate_of(node) is not None:
            return None
        child = node
        for ancestor in self._index.tree.ancestors(node):
            if child in self._elements:
                return EVALUATION
            if isinstance(ancestor, LOOPS) and self._index.tree.in_body(ancestor, child):
                turn = self.turn_made_in(ancestor)
                if turn is not None:
                    return turn
            if isinstance(ancestor, FUNCTIONS):
                turn = self._functions.get(ancestor)
                return (
                    None if turn == STEP and self._index.regions.evaluation.switches.is_without_training(node) else turn
                )
            child = ancestor
        return None

    def runs_method(self, method: FunctionNode, depth: int = 0) -> bool:
        """Whether every step runs a method or property of a module: called on a module, by its forward pass or by
        another such method."""
        tree, owner = self._index.tree, self._index.tree.class_of(method)
        if owner is None or depth > _METHODS or not self._index.definitions.is_module_class(owner):
            return False
        for node in tree.attributes_called(method.name):
            within = tree.function_of(node)
            if not isinstance(node.ctx, ast.Load) or within is None or self._index.regions.gate_of(node) is not None:
                continue
            first = within.args.args[0].arg if within.args.args else ""
            if tree.class_of(within) is owner and isinstance(node.value, ast.Name) and node.value.id == first:
                if within is not method and (within.name == "forward" or self.runs_method(within, depth + 1)):
                    return True
            elif self.turn_of(node) == STEP and self._index.kind(node.value) is Kind.MODULE:
                return True
        return False

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Nodes of a class in the loops and functions, in order of position; gates are not looked at."""
        if self._nodes is None:
            self._nodes = {}
            seen: set[ast.AST] = set()
            for holder in (*self._loops, *self._elements, *self._drawn, *self._functions):
                for node in self._index.tree.inside(holder, functions=False):
                    if node not in seen:
                        seen.add(node)
                        self._nodes.setdefault(node.__class__, []).append(node)
        if kind not in self._sorted:
            self._sorted.add(kind)
            self._nodes.get(kind, []).sort(key=self._index.span)
        return [node for node in self._nodes.get(kind, ()) if isinstance(node, kind)]

    def loop_within(self, node: ast.AST) -> LoopNode | None:
        """The innermost loop around a node that a single turn runs to its end; None when the turn's own is nearer."""
        loop = self._index.tree.loop_of(node)
        return loop if loop is not None and self.turn_made_in(loop) is None else None

    def _forwards(self) -> list[FunctionNode]:
        """Forward passes of the module classes that this file makes an instance of, or is handed one of."""
        index = self._index
        made = {node.id for node in index.tree.names if isinstance(node.ctx, ast.Load)}
        made.update(name for names in index.definitions.classes.handed.values() for name in names)
        return [
            function
            for owner in index.tree.classes
            if owner.name in made and index.definitions.is_module_class(owner)
            for function in (index.definitions.method(owner, "forward"),)
            if function is not None
        ]

    def _follow(self, functions: list[FunctionNode], turn: str) -> None:
        """Note functions, and those that run whenever these do."""
        waiting = list(functions)
        while waiting:
            function = waiting.pop()
            if function in self._functions:
                continue
            self._functions[function] = turn
            if function.name == "forward":
                waiting.extend(self._parts_run_by(function))
            for call in self._index.tree.nodes_in(function, ast.Call, functions=False):
                if turn == STEP and self._index.regions.evaluation.switches.is_without_training(call):
                    continue
                called = self._index.regions.events.functions_of(call)
                called = called or self._index.definitions.functions_of_several(call)
                called = called or self._index.module_calls.run_by(call)
                if not called or self._index.regions.gate_of(call) is not None:
                    continue
                waiting.extend(called)
                if isinstance(call, ast.Call) and is_of_self(call.func):
                    waiting.extend(other for item in called for other in self._index.definitions.overriding(item))
            waiting.extend(self._properties_read_in(function))
            waiting.extend(self._index.definitions.decorations.wrappers_of(function))

    def _properties_read_in(self, holder: ast.AST) -> list[FunctionNode]:
        """Properties of objects of this file that a loop or function reads each time: ``if self.is_full: ...``."""
        index = self._index
        if not index.source.has_any(_PROPERTIES):
            return []
        found: dict[FunctionNode | None, None] = {}
        for node in index.tree.nodes_in(holder, ast.Attribute, functions=False):
            is_read = isinstance(node.ctx, ast.Load) and bool(index.definitions.properties(node.attr))
            if is_read and index.regions.gate_of(node) is None:
                found[index.definitions.method_named(node)] = None
        return [one for one in found if one is not None and is_property(one, kept=False)]

    def _parts_run_by(self, forward: FunctionNode) -> list[FunctionNode]:
        """Forward passes of the modules that a module is made of: of classes of this file that it uses or is given."""
        index = self._index
        owner = index.tree.class_of(forward)
        if owner is None or not index.definitions.is_module_class(owner):
            return []
        made = map(index.definitions.class_called, index.tree.nodes_in(owner, ast.Call))
        names = {
            name
            for (function, _), names in index.definitions.classes.handed.items()
            for name in names
            if function == f"{owner.name}.__init__"
        }
        given = [part for part in index.tree.classes if part.name in names] if names else []
        parts = {part: None for part in (*made, *given) if part is not None and index.definitions.is_module_class(part)}
        found = (index.definitions.method(part, "forward") for part in parts)
        return [function for function in found if function is not None]
