"""Functions that run a module once, on what they are given: a batch that the loop which calls them deals out."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.loops.gradient_switches import GradientSwitches
from tpulint.semantic.modules.module_runs import ModuleRuns
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree


class BatchFunctions:
    """Answers about the functions of one file."""

    def __init__(
        self,
        tree: SyntaxTree,
        definitions: Definitions,
        events: EventMap,
        switches: GradientSwitches,
        runs: ModuleRuns,
    ) -> None:
        self._tree = tree
        self._definitions = definitions
        self._events = events
        self._switches = switches
        self._runs = runs
        self._once: dict[FunctionNode, frozenset[bool]] = {}

    def run_once(self, function: FunctionNode, *, without_gradient: bool) -> bool:
        """Whether a function runs a module, in no loop of its own, and no backward pass."""
        if function not in self._once:
            self._once[function] = frozenset()  # a function that calls itself
            self._once[function] = self._find_runs(function)
        return without_gradient in self._once[function]

    def _find_runs(self, function: FunctionNode) -> frozenset[bool]:
        """Whether the first module that a function runs is run without gradients, and whether it runs one at all.

        One that it switches to ``eval()`` itself is evaluated, whether gradients are recorded or not. A function of the
        file that it calls may be what runs the module: ``loss, y = self.loss_of(x)``.
        """
        found: set[bool] = set()
        if self._events.of(function).backwards:
            return frozenset()
        for node in self._tree.nodes_in(function, ast.Call, functions=False):
            runs = self._runs_of_helper(node)
            if runs or self._runs.is_run(node) or self._runs.computes(node):
                quiet = True in runs or self._switches.is_under_no_grad(node) or self._switches.is_behind_eval(node)
                if self._events.holder_of(node) is function:
                    found |= {False, quiet}
                    if quiet:
                        break
        return frozenset(found)

    def _runs_of_helper(self, call: ast.AST) -> frozenset[bool]:
        helper = self._definitions.function_called(call) if isinstance(call, ast.Call) else None
        if helper is None:
            return frozenset()
        self.run_once(helper, without_gradient=False)
        return self._once[helper]
