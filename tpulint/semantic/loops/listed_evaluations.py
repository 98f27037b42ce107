"""Comprehensions that run a model batch by batch and train nothing: ``[model(x) for x, y in loader]``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.evaluation import Evaluation
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import Comprehension, FunctionNode, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree

_GIVES_ON = frozenset({
    "builtins.enumerate", "builtins.iter", "builtins.map", "builtins.zip", "builtins.filter", "builtins.next",
})  # fmt: skip
"""What goes through a generator only as far as something else goes through it."""
_READS = frozenset({"builtins.any", "builtins.all", "builtins.min", "builtins.max"})
"""What asks each element on its way."""
_SIZES = ("shape", "ndim", "dtype", "device")
_AT_ONCE = ("builtins.", "torch.", "numpy.")


class ListedEvaluations:
    """All of one file, in order of position, each with the functions that it runs."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        definitions: Definitions,
        events: EventMap,
        evaluation: Evaluation,
        step_loops: Set[LoopNode],
        run_by_steps: Set[FunctionNode],
    ) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._events = events
        self._evaluation = evaluation
        self._step_loops = step_loops
        self._run_by_steps = run_by_steps
        every: list[Comprehension] = [
            *tree.list_comprehensions,
            *filter(self._is_gone_through, tree.generator_expressions),
        ]
        self.found = {node: self._functions_of(node) for node in sorted(every, key=tree.start) if self._evaluates(node)}

    def _is_gone_through(self, node: ast.GeneratorExp) -> bool:
        """Whether what a generator is given to goes through it at once: ``sum(... for x in loader)``."""
        call = self._tree.parents[node]
        name = self._names.qualified(call.func) if isinstance(call, ast.Call) and node in call.args else None
        return name is not None and name.startswith(_AT_ONCE) and name not in _GIVES_ON | _READS

    def _evaluates(self, node: Comprehension) -> bool:
        evaluation, tree = self._evaluation, self._tree
        if isinstance(node.elt, ast.Attribute) and node.elt.attr in _SIZES:
            return False
        if not evaluation.batches.gives_batches(node.generators[0].iter):
            return False
        if tree.function_of(node) in self._run_by_steps or not self._step_loops.isdisjoint(tree.ancestors(node)):
            return False
        if evaluation.has_framework() or not self._is_quiet(node) or evaluation.host_runs.are_in(node):
            return False
        events = self._events.events_in(node.elt)
        return not (events.backwards or events.updates or events.candidates)

    def _is_quiet(self, node: Comprehension) -> bool:
        """Whether a module is run, and no gradient is wanted: here, or in the function that runs it."""
        evaluation = self._evaluation
        here = evaluation.records_nothing(node) or evaluation.switches.is_called_so(node)
        if here and evaluation.runs.is_in(node.elt):
            return True
        called = (self._definitions.function_called(call) for call in self._calls_in(node))
        return any(one is not None and evaluation.runs_once(one, without_gradient=not here) for one in called)

    def _functions_of(self, node: Comprehension) -> list[FunctionNode]:
        called = [one for call in self._calls_in(node) for one in self._events.functions_of(call)]
        return list(dict.fromkeys(one for item in called for one in (item, *self._events.of(item).functions)))

    def _calls_in(self, node: Comprehension) -> Iterator[ast.Call]:
        calls = (node.elt, *self._tree.nodes_in(node.elt, ast.Call, functions=False))
        yield from (call for call in calls if isinstance(call, ast.Call))
