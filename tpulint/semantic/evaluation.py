"""Evaluation loops: loops that run a model batch by batch and train nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.bindings import Binding
from tpulint.semantic.definitions import Definitions, is_abstract, qualified_in_file
from tpulint.semantic.events import EventMap
from tpulint.semantic.fed_parameters import arguments_given
from tpulint.semantic.kinds import Kind, Kinds, Side
from tpulint.semantic.names import Names
from tpulint.semantic.outside import NOW_AND_THEN, OutsideCall
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, LoopNode, SyntaxTree
from tpulint.semantic.walks import goes_along

_RUNNING_METHODS = ("generate", "forward", "encode", "decode")
_KEEPING = ("register_", "load_", "add_", "set_", "update_", "__")
"""Beginnings of methods of modules that only keep what they are given."""
_LOADER = re.compile(r"loader\d*$", re.IGNORECASE)
_BACKWARDS = ("reverse", "inverse", "invert", "rev")
"""Flags of models that are trained one way and sampled from the other."""
_WRAPPERS = frozenset({"builtins.enumerate", "builtins.iter", "tqdm.tqdm", "itertools.islice"})
_MOVES = frozenset({"to", "cuda"})
_UPLOADS = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor"})
_DEPTH = 2
"""Functions that a wish for no gradients is followed through."""


class Evaluation:
    """What is known about code that records no gradient."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        kinds: Kinds,
        definitions: Definitions,
        events: EventMap,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions
        self._events = events
        self._outside = outside
        self._runs: dict[FunctionNode, frozenset[bool]] = {}
        self._acting: dict[FunctionNode, bool] = {}
        self._switches: dict[FunctionNode | None, list[ast.Call]] | None = None

    def loops(self, candidates: list[LoopNode], step_loops: frozenset[LoopNode]) -> list[LoopNode]:
        """The innermost of these loops that evaluate: under ``no_grad`` or behind ``eval()``, no backward pass."""
        if not candidates or self._has_framework():
            return []
        found = [loop for loop in candidates if self._evaluates(loop, step_loops)]
        within = {outer: loop for loop in found for outer in self._tree.ancestors(loop)}
        beside = [loop for loop in found if loop not in within or self._is_beside(loop, within[loop])]
        return [loop for loop in beside if not (self._goes_through_few(loop) and self._is_within(loop, beside))]

    def _is_within(self, loop: LoopNode, loops: list[LoopNode]) -> bool:
        return any(outer is not loop and self._tree.encloses(outer, loop) for outer in loops)

    def _goes_through_few(self, loop: LoopNode) -> bool:
        """Whether a loop goes over what a module made of one batch, ``for output in model(x)``, or a few other things.

        These are the parts of a batch, the rest of one, ``views`` of ``for x, *views in loader``, or a list that is
        written out.
        """
        if not isinstance(loop, ast.For):
            return False
        names = (node for node in (loop.iter, *self._tree.nodes_in(loop.iter, ast.Name)) if isinstance(node, ast.Name))
        bound = [binding for name in names for binding in self._names.bindings(name)]
        values = [binding.value for binding in bound if not binding.path]
        return (
            any(isinstance(one.value, ast.Call) and self.is_run(one.value) for one in bound)
            or (bool(values) and all(isinstance(value, ast.List | ast.Tuple) and value.elts for value in values))
            or isinstance(loop.iter, ast.List | ast.Tuple)
            or any(isinstance(self._tree.parents[one.node], ast.Starred) for one in bound if one.kind == "loop")
            or any(map(self._is_whole_batch, bound))
        )

    def _is_whole_batch(self, binding: Binding) -> bool:
        """``batch`` of ``for batch in loader`` or ``for i, batch in enumerate(loader)``."""
        loop = binding.statement
        if binding.kind != "loop" or not isinstance(loop, ast.For) or not self.takes_batches(loop):
            return False
        counted = isinstance(loop.iter, ast.Call) and self._names.qualified(loop.iter.func) == "builtins.enumerate"
        return binding.path == ((1,) if counted else ())

    def _is_beside(self, loop: LoopNode, inner: LoopNode) -> bool:
        """Whether a loop takes batches and runs a module itself too, around another that goes over something else."""
        if not self.takes_batches(loop) or self.takes_batches(inner):
            return False
        if self._goes_through_few(inner):
            return True
        runs = (call for call in self._tree.nodes_in(loop, ast.Call, functions=False) if self.is_run(call))
        return any(self._events.holder_of(node) is loop for node in runs)

    def takes_batches(self, loop: LoopNode) -> bool:
        """Whether a loop goes over a data loader, by its name if by nothing else."""
        if not isinstance(loop, ast.For | ast.AsyncFor):
            return False
        source = loop.iter
        while isinstance(source, ast.Call) and source.args and self._names.qualified(source.func) in _WRAPPERS:
            source = source.args[0]
        if self._is_loader(source) or self._kinds.value(loop.iter).kind is Kind.LOADER:
            return True
        return isinstance(source, ast.Call) and self._deals_out_batches(source)

    def _is_loader(self, node: ast.expr) -> bool:
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        return _LOADER.search(name) is not None or self._kinds.value(node).kind is Kind.LOADER

    def _deals_out_batches(self, call: ast.Call) -> bool:
        """Whether a generator of the project goes through a loader that it is given: ``with_estimate(loader)``."""
        given = [item for item in (*call.args, *(one.value for one in call.keywords)) if self._is_loader(item)]
        found = self._kinds.functions.generator_called(call) if given else None
        if found is None:
            return False
        values, function = found
        first = [argument.arg for argument in function.args.args[:1]]
        names = {name for name, item in arguments_given(call, function, first == ["self"]) if item in given}
        return not names.isdisjoint(values.iterated_by(function))

    def gathers_gradients(self, loop: LoopNode) -> bool:
        """Whether a loop over batches only adds up what its backward passes give: ``importance += p.grad ** 2``."""
        gradients = (node for node in self._tree.attributes_called("grad") if self._tree.encloses(loop, node))
        if not any(map(self._is_added_up, gradients)) or not self.takes_batches(loop):
            return False
        events = self._events.of(loop)
        return bool(events.backwards) and not (events.updates or events.candidates or events.manual_updates)

    def _is_added_up(self, gradient: ast.Attribute) -> bool:
        """Whether a gradient is added to something else than what it is the gradient of."""
        statement = self._tree.statement_of(gradient)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            target: ast.expr = statement.target
        elif (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Attribute)
            and statement.value.func.attr == "add_"
        ):
            target = statement.value.func.value
        else:
            return False
        of = {ast.dump(gradient), ast.dump(gradient.value)}
        return not any(ast.dump(part).replace("Store()", "Load()") in of for part in ast.walk(target))

    def _evaluates(self, loop: LoopNode, step_loops: frozenset[LoopNode]) -> bool:
        if self.gathers_gradients(loop):
            return True
        if not self._without_gradient(loop):
            within_step = any(outer in step_loops for outer in self._tree.ancestors(loop))
            if within_step or not (self._is_behind_eval(loop) or self._is_behind_training(loop, step_loops)):
                return False
        if not self.takes_batches(loop) and self._is_amid_gradients(loop):
            return False
        if not self.runs_module(loop) and not (self.takes_batches(loop) and self._hands_on_batches(loop)):
            return False
        if self._goes_through_modules(loop) or self._is_on_host(loop):
            return False
        if goes_along(self._tree, self._names, loop):
            return False
        events = self._events.of(loop)
        return not events.updates and (not events.backwards or self._is_against_adversary(loop))

    def _hands_on_batches(self, loop: LoopNode) -> bool:
        """Whether a loop gives each batch to what runs a module: ``model.features(x)``, ``self.loss_of(batch)``.

        What is done with them may be left to derived classes as well.
        """
        calls = (node for node in self._tree.nodes_in(loop, ast.Call, functions=False) if isinstance(node, ast.Call))
        return any(self.computes(call) or self._is_left_open(call) or self._runs_one_batch(call) for call in calls)

    def _is_left_open(self, call: ast.Call) -> bool:
        """Whether a method that a call gives something has no body: ``self.metrics_of(batch)``."""
        function = self._definitions.function_called(call) if call.args else None
        return function is not None and is_abstract(function)

    def _runs_one_batch(self, call: ast.Call) -> bool:
        """Whether a call gives something to a function of this file that runs a module, in no loop of its own."""
        function = self._definitions.function_called(call) if call.args else None
        return function is not None and self.runs_once(function, without_gradient=False)

    def _is_against_adversary(self, loop: LoopNode) -> bool:
        """Whether backward passes in an evaluation are those of a function that changes the batch, not the model."""
        events = self._events.of(loop)
        if events.manual_updates or events.candidates or self._is_called_so(loop):
            return False
        is_elsewhere = not any(self._tree.encloses(loop, call) for call in events.backwards)
        return is_elsewhere and self._is_behind_eval(loop) and isinstance(loop, ast.For)

    def _is_behind_training(self, loop: LoopNode, step_loops: frozenset[LoopNode]) -> bool:
        """Whether a loop over batches stands behind a step loop, in its block: a test that says nothing of gradients.

        Nothing behind it goes backwards, through a loss of all batches.
        """
        tree = self._tree
        if not self.takes_batches(loop):
            return False
        suite, at = tree.suite_of(loop), tree.position_of(loop)
        if not any(tree.encloses(item, step) for item in suite[:at] for step in step_loops):
            return False
        later = [call.func for item in suite[at + 1 :] for call in tree.nodes_in(item, ast.Call, functions=False)]
        return not any(isinstance(func, ast.Attribute) and func.attr in ("backward", "grad") for func in later)

    def _is_on_host(self, loop: LoopNode) -> bool:
        """Whether a module that a loop runs must be on the host: NumPy takes its result as it is.

        In a file that moves nothing, it must be too where it is given what was made on the host.
        """
        moves = any(isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES for call in self._tree.calls)
        for node in self._tree.nodes_in(loop, ast.Call, functions=False):
            if self.is_run(node):
                if not moves and any(map(self._is_made_on_host, node.args)):
                    return True
                outer: ast.AST = node
                while isinstance(parent := self._tree.parents[outer], ast.Subscript | ast.Attribute):
                    outer = parent
                if isinstance(outer, ast.Attribute) and outer.attr == "numpy":
                    return True
        return False

    def _is_made_on_host(self, node: ast.expr) -> bool:
        """Whether a tensor is made of an array or of numbers, and lies where it was made."""
        if self._kinds.value(node).side is not Side.HOST:
            return False
        bindings = self._names.bindings(node) if isinstance(node, ast.Name) else []
        values = [binding.value for binding in bindings] or [node]
        return all(isinstance(item, ast.Call) and self._names.qualified(item.func) in _UPLOADS for item in values)

    def runs_module(self, holder: ast.AST) -> bool:
        """Whether a module is run at or below a node; what a loop goes over is run once, in front of its turns."""
        nodes = (holder, *self._tree.nodes_in(holder, ast.Call, functions=False))
        once = holder.iter if isinstance(holder, ast.For | ast.AsyncFor) else None
        return any(
            isinstance(node, ast.Call) and self.is_run(node) and (once is None or not self._tree.encloses(once, node))
            for node in nodes
        )

    def runs_once(self, function: FunctionNode, *, without_gradient: bool) -> bool:
        """Whether a function runs a module, in no loop of its own, and no backward pass."""
        if function not in self._runs:
            self._runs[function] = self._find_runs(function)
        return without_gradient in self._runs[function]

    def _find_runs(self, function: FunctionNode) -> frozenset[bool]:
        """Whether the first module that a function runs is run without gradients, and whether it runs one at all.

        One that it switches to ``eval()`` itself is evaluated, whether gradients are recorded or not.
        """
        found: set[bool] = set()
        if self._has_framework() or self._events.of(function).backwards:
            return frozenset()
        for node in self._tree.nodes_in(function, ast.Call, functions=False):
            if self.is_run(node) or self.computes(node):
                quiet = self.is_under_no_grad(node) or self._is_behind_eval(node)
                if self._events.holder_of(node) is function:
                    found |= {False, quiet}
                    if quiet:
                        break
        return frozenset(found)

    def runs_for_batches(self, loop: LoopNode) -> bool:
        """Whether a loop runs a module and has nothing to do with training: no backward pass, no optimizer."""
        if self._has_framework() or self._goes_through_modules(loop):
            return False
        calls = self._tree.nodes_in(loop, ast.Call, functions=False)
        if not any(self.is_run(call) or self.computes(call) for call in calls):
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

    def records_nothing(self, loop: LoopNode) -> bool:
        """Whether no gradient is wanted of what a loop runs: under ``no_grad``, or behind ``eval()``."""
        return self.is_under_no_grad(loop) or self._is_behind_eval(loop)

    def is_run(self, call: ast.Call) -> bool:
        """Whether a call runs a module: ``model(x)``, ``model.forward(x)``."""
        func = call.func
        if isinstance(func, ast.Call):
            return False
        if self._kinds.value(func).kind is Kind.MODULE:
            return True
        if not isinstance(func, ast.Attribute) or self._kinds.value(func.value).kind is not Kind.MODULE:
            return False
        return func.attr in _RUNNING_METHODS or self._runs_itself(call)

    def _runs_itself(self, call: ast.Call) -> bool:
        """Whether a method of a module, of which this file has the class, runs it: ``def act(self, x): self(x)``."""
        for method in (*self._events.functions_of(call), *self._definitions.functions_of_several(call)):
            if method not in self._acting:
                first = method.args.args[0].arg if method.args.args else ""
                runs = (node.func for node in self._tree.nodes_in(method, ast.Call, functions=False))
                self._acting[method] = any(isinstance(func, ast.Name) and func.id == first for func in runs)
            if self._acting[method]:
                return True
        return False

    def computes(self, call: ast.Call) -> bool:
        """Whether a call gives another method of a module tensors of the device, on which it computes."""
        func = call.func
        if not isinstance(func, ast.Attribute) or self._kinds.value(func.value).kind is not Kind.MODULE:
            return False
        return not func.attr.startswith(_KEEPING) and any(map(self._kinds.is_on_device, call.args))

    def is_under_no_grad(self, node: ast.AST) -> bool:
        """Whether ``torch.no_grad()`` or the like is in force at a node, in the node's function."""
        child = node
        for ancestor in self._tree.ancestors(node):
            within = isinstance(ancestor, ast.With | ast.AsyncWith) and self._tree.in_body(ancestor, child)
            if within and self._switches_off(ancestor):
                return True
            if isinstance(ancestor, FUNCTIONS):
                return any(self._is_no_grad(decorator) for decorator in ancestor.decorator_list)
            child = ancestor
        return False

    def is_without_training(self, node: ast.AST) -> bool:
        """Whether a node stands where ``self.training`` is false, ``if self.training: ... else: node``, or a flow is
        run backwards, ``if reverse: node``."""
        if ".training" not in self._tree.source.text and not self._tree.source.has_any(_BACKWARDS):
            return False
        tree = self._tree
        child = node
        for ancestor in tree.ancestors(node):
            if isinstance(child, ast.stmt):
                suite = tree.suite_of(child)
                above = suite[: tree.position_of(child)]
                if any(isinstance(item, ast.If) and _trains(item.test) and _leaves(item.body) for item in above):
                    return True
            if isinstance(ancestor, FUNCTIONS):
                return False
            if isinstance(ancestor, ast.If):
                test = ancestor.test
                if tree.in_body(ancestor, child):
                    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and _trains(test.operand):
                        return True
                    if isinstance(test, ast.Name) and test.id in _BACKWARDS and self._is_off_by_default(test):
                        return True
                elif child is not test and _trains(test):
                    return True
            child = ancestor
        return False

    def _is_off_by_default(self, flag: ast.Name) -> bool:
        """Whether a flag is a parameter with the default False."""
        bindings = self._names.bindings(flag)
        defaults = [binding.value for binding in bindings if binding.kind == "parameter"]
        return len(bindings) == 1 and any(isinstance(item, ast.Constant) and item.value is False for item in defaults)

    def _without_gradient(self, loop: LoopNode) -> bool:
        if self.is_under_no_grad(loop) or self._is_called_so(loop):
            return True
        inside = self._tree.inside(loop, functions=False)
        if not any(self._switches_off(node) and self.runs_module(node) for node in inside):
            return False
        runs = filter(self.is_run, self._tree.nodes_in(loop, ast.Call, functions=False))
        return all(map(self.is_under_no_grad, runs))

    def _is_amid_gradients(self, loop: LoopNode) -> bool:
        """Whether the function of a loop runs modules with gradients too: labels are guessed in front of a loss."""
        function = self._tree.function_of(loop)
        if function is None or self._is_called_so(loop):
            return False
        runs = filter(self.is_run, self._tree.nodes_in(function, ast.Call, functions=False))
        return any(
            self._events.holder_of(call) is function
            and not self.is_under_no_grad(call)
            and self.last_switch(call) != "eval"
            for call in runs
        )

    def _is_called_so(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether all calls of the function in which a node stands are made where no gradient is wanted."""
        function = self._tree.function_of(node)
        calls = [] if function is None else self._definitions.calls_of(function)
        if function is not None and not calls and self._outside:
            name = qualified_in_file(self._tree, function)
            calls_out = (call for call in self._outside if call.function == name and not call.is_unfollowed)
            quiet = [call.is_quiet for call in calls_out if call.turn == NOW_AND_THEN]
            return bool(quiet) and all(quiet)
        return bool(calls) and all(
            self.is_under_no_grad(call)
            or self._is_behind_eval(call)
            or (depth < _DEPTH and self._is_called_so(call, depth + 1))
            for call in calls
        )

    def _switches_off(self, node: ast.AST) -> bool:
        items = node.items if isinstance(node, ast.With | ast.AsyncWith) else []
        return any(self._is_no_grad(item.context_expr) for item in items)

    def _is_no_grad(self, node: ast.expr) -> bool:
        target = node.func if isinstance(node, ast.Call) else node
        return self._names.qualified(target) in facts.NO_GRAD_CONTEXTS

    def _is_behind_eval(self, node: LoopNode | ast.Call) -> bool:
        """Whether ``eval()``, not ``train()``, is the last switch of a module in front of a node, in its function."""
        return self.last_switch(node) == "eval"

    def last_switch(self, node: LoopNode | ast.Call) -> str | None:
        """The last switch of a module in front of a node, in its function: ``eval`` or ``train``.

        ``train(False)`` is ``eval``.
        """
        if self._switches is None:
            self._switches = {}
            for call in self._tree.calls:
                func = call.func
                if not isinstance(func, ast.Attribute) or func.attr not in ("eval", "train"):
                    continue
                if self._kinds.value(func.value).kind is Kind.MODULE:
                    self._switches.setdefault(self._tree.function_of(call), []).append(call)
        begin, function = (node.lineno, node.col_offset), self._tree.function_of(node)
        last = None
        for call in self._switches.get(function, ()):
            if (call.lineno, call.col_offset) < begin:
                last = call
        if last is None or not isinstance(last.func, ast.Attribute):
            return None
        modes = [*last.args, *(item.value for item in last.keywords)]
        is_off = any(isinstance(mode, ast.Constant) and mode.value is False for mode in modes)
        return "eval" if is_off else last.func.attr

    def _goes_through_modules(self, loop: LoopNode) -> bool:
        """Whether each turn runs another module: ``for layer in layers: x = layer(x)``."""
        if not isinstance(loop, ast.For | ast.AsyncFor):
            return False
        targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        for statement in loop.body:
            if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Subscript):
                continue
            # expert = experts[i]
            if any(isinstance(part, ast.Name) and part.id in targets for part in ast.walk(statement.value.slice)):
                targets |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
        through = False
        for node in self._tree.nodes_in(loop, ast.Call, functions=False):
            if self._kinds.value(node.func).kind is Kind.MODULE:
                if not any(isinstance(part, ast.Name) and part.id in targets for part in ast.walk(node.func)):
                    return False
                through = True
        return through

    def _has_framework(self) -> bool:
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


def _trains(test: ast.AST) -> bool:
    """``self.training``, ``model.training``"""
    return isinstance(test, ast.Attribute) and test.attr == "training"


def _leaves(suite: list[ast.stmt]) -> bool:
    return isinstance(suite[-1], ast.Return | ast.Raise)
