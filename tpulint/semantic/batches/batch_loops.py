"""What loops go through: batches of a data loader, parts of one batch, modules."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.modules.module_runs import ModuleRuns
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import Comprehension, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind, Kinds

_LOADER = re.compile(r"(?:loader|(?:^|_)batches|(?:^|_)dl)\d*$", re.IGNORECASE)
_ITERABLE, _SOURCE = "iterable", "loader"
"""Of a progress bar, and how the parameters of what stands around loaders end."""
_WRAPPERS = frozenset({"builtins.enumerate", "builtins.iter", "tqdm.tqdm", "itertools.islice"})


def batches_of(node: ast.AST) -> ast.expr | None:
    """What a comprehension takes its elements from, one for each: ``loader`` of ``(move(x) for x in loader)``."""
    if not isinstance(node, Comprehension) or len(node.generators) != 1 or node.generators[0].ifs:
        return None
    names = {part.id for part in ast.walk(node.generators[0].target) if isinstance(part, ast.Name)}
    is_used = any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node.elt))
    return node.generators[0].iter if is_used else None


def gone_through(call: ast.Call) -> list[ast.expr]:
    """What may lie behind the elements that a call gives: ``enumerate(loader)``, ``tqdm(iterable=loader)``."""
    named = [item for item in call.keywords if item.arg == _ITERABLE or (item.arg or "").endswith(_SOURCE)]
    return [*call.args, *(item.value for item in named)]


class BatchLoops:
    """Answers about the loops of one file."""

    def __init__(self, tree: SyntaxTree, names: Names, kinds: Kinds, events: EventMap, runs: ModuleRuns) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._events = events
        self._runs = runs

    def takes_batches(self, loop: LoopNode) -> bool:
        """Whether a loop goes over a data loader, by its name if by nothing else."""
        return isinstance(loop, ast.For | ast.AsyncFor) and self.gives_batches(loop.iter)

    def gives_batches(self, source: ast.expr) -> bool:
        """Whether a data loader lies behind what a loop or comprehension runs over: ``enumerate(loader)``."""
        outermost = source = batches_of(source) or source
        while isinstance(source, ast.Call) and self._names.qualified(source.func) in _WRAPPERS and gone_through(source):
            source = gone_through(source)[0]
        together = source.args if isinstance(source, ast.Call) and self._is_zip(source) else [source]
        if any(map(self._is_loader, together)) or self._kinds.value(outermost).kind is Kind.LOADER:
            return True
        return isinstance(source, ast.Call) and self._deals_out_batches(source)

    def _is_zip(self, call: ast.Call) -> bool:
        return self._names.qualified(call.func) == "builtins.zip"

    def _is_loader(self, node: ast.expr) -> bool:
        return _LOADER.search(last_name(node)) is not None or self._kinds.value(node).kind is Kind.LOADER

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

    def goes_through_few(self, loop: LoopNode) -> bool:
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
            any(isinstance(one.value, ast.Call) and self._runs.is_run(one.value) for one in bound)
            or (bool(values) and all(isinstance(value, ast.List | ast.Tuple) and value.elts for value in values))
            or isinstance(loop.iter, ast.List | ast.Tuple)
            or any(isinstance(self._tree.parents[one.node], ast.Starred) for one in bound if one.kind == "loop")
            or any(map(self._is_whole_batch, bound))
            or self._adds_up_runs(loop)
            or self._numbers_outputs(loop)
        )

    def goes_through_given(self, loop: LoopNode) -> bool:
        """Whether a loop goes over what its function is given, and no loader: ``for cloud in clouds``, of one batch."""
        if not isinstance(loop, ast.For) or self.takes_batches(loop):
            return False
        is_counted = isinstance(loop.iter, ast.Call) and self._names.qualified(loop.iter.func) == "builtins.range"
        names = (node for node in (loop.iter, *self._tree.nodes_in(loop.iter, ast.Name)) if isinstance(node, ast.Name))
        bound = [
            binding
            for name in names
            if not is_counted or self._is_measured(name)
            for binding in self._names.bindings(name)
        ]
        return any(one.kind == "parameter" and one.name != "self" for one in bound)

    def _is_measured(self, name: ast.Name) -> bool:
        """``len(clouds)``, ``clouds.shape[0]`` and ``clouds.size(0)``"""
        holder = self._tree.parents[name]
        if isinstance(holder, ast.Call):
            return self._names.qualified(holder.func) == "builtins.len"
        return isinstance(holder, ast.Attribute) and holder.attr in ("shape", "size")

    def _numbers_outputs(self, loop: ast.For) -> bool:
        """Whether a loop counts through what a module gave: ``for i in range(heads): softmax(outputs[i])``."""
        is_counted = isinstance(loop.iter, ast.Call) and self._names.qualified(loop.iter.func) == "builtins.range"
        if not is_counted or not isinstance(loop.target, ast.Name):
            return False
        parts = (
            node.value
            for node in self._tree.nodes_in(loop, ast.Subscript, functions=False)
            if isinstance(node.slice, ast.Name) and node.slice.id == loop.target.id
        )
        bound = [self._names.bindings(part) for part in parts if isinstance(part, ast.Name)]
        made = [binding for found in bound for binding in found if not self._tree.encloses(loop, binding.node)]
        return any(isinstance(one.value, ast.Call) and self._runs.is_run(one.value) for one in made)

    def _adds_up_runs(self, loop: ast.For) -> bool:
        """Whether a loop runs a module so many times and adds up the results: ``for t in range(T): y += model(x)``."""
        is_counted = isinstance(loop.iter, ast.Call) and self._names.qualified(loop.iter.func) == "builtins.range"
        return is_counted and any(
            isinstance(item, ast.AugAssign)
            and isinstance(item.op, ast.Add)
            and isinstance(item.value, ast.Call)
            and self._runs.is_run(item.value)
            for item in loop.body
        )

    def _is_whole_batch(self, binding: Binding) -> bool:
        """``batch`` of ``for batch in loader`` or ``for i, batch in enumerate(loader)``."""
        loop = binding.statement
        if binding.kind != "loop" or not isinstance(loop, ast.For) or not self.takes_batches(loop):
            return False
        counted = isinstance(loop.iter, ast.Call) and self._names.qualified(loop.iter.func) == "builtins.enumerate"
        return binding.path == ((1,) if counted else ())

    def is_beside(self, loop: LoopNode, inner: LoopNode) -> bool:
        """Whether a loop takes batches and runs a module itself too, around another that goes over something else."""
        if not self.takes_batches(loop) or self.takes_batches(inner):
            return False
        if self.goes_through_few(inner):
            return True
        calls = self._tree.nodes_in(loop, ast.Call, functions=False)
        runs = (call for call in calls if self._runs.is_run(call) or self._runs.computes(call))
        return any(self._events.holder_of(call) is loop for call in runs)

    def goes_through_modules(self, loop: LoopNode) -> bool:
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
