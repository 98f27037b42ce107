"""Turns that go on from what the turn before gave: ``logits = model(tokens)``, ``x = self.p_sample(x, t)``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.modules.module_runs import ModuleRuns
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree


class CarriedTurns:
    """Answers about the loops of one file."""

    def __init__(
        self, tree: SyntaxTree, flow: Flow, definitions: Definitions, events: EventMap, runs: ModuleRuns
    ) -> None:
        self._tree = tree
        self._flow = flow
        self._definitions = definitions
        self._events = events
        self._runs = runs

    def by_module(self, loop: LoopNode) -> bool:
        """Whether each turn gives a module what it made in the turn before: ``logits = model(tokens)``."""
        calls = (node for node in self._tree.nodes_in(loop, ast.Call, functions=False) if isinstance(node, ast.Call))
        return any(self._runs.is_run(call) and self._is_carried(call, loop) for call in calls)

    def by_function(self, loop: LoopNode) -> bool:
        """Whether each turn gives that to a function of this file which runs a module."""
        calls = (node for node in self._tree.nodes_in(loop, ast.Call, functions=False) if isinstance(node, ast.Call))
        return any(
            self._events.holder_of(call) is loop and self._is_carried(call, loop) and self._leads_to_run(call)
            for call in calls
        )

    def _leads_to_run(self, call: ast.Call) -> bool:
        function = self._definitions.function_called(call)
        functions = [] if function is None else [function, *self._events.of(function).functions]
        return any(self._runs.is_in(one) or self._runs.calls_part(one) for one in functions)

    def _is_carried(self, call: ast.Call, loop: LoopNode) -> bool:
        """Whether a call is given what a variable holds of the turn before."""
        tree, statement = self._tree, self._tree.statement_of(call)
        given = (item for item in (*call.args, *(one.value for one in call.keywords)) if isinstance(item, ast.Name))
        bound = (binding.statement for name in given for binding in self._flow.reaching(name))
        made = (one for one in bound if isinstance(one, ast.stmt) and tree.encloses(loop, one))  # no comprehension
        return any(tree.start(one) >= tree.start(statement) for one in made)
