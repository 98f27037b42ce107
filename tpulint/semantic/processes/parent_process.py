"""Code that runs in the process that starts others: the device must not be touched there."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.processes.launches import Launches
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.torch_facts import PROCESS_STARTERS
from tpulint.semantic.syntax.tree import SyntaxTree

_DEVICE_WORDS = r"\bdevice\b|cuda|xla"


class ParentProcess:
    """The code of one file that runs before processes are started; false when none are."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions, launches: Launches) -> None:
        self._tree = tree
        self._definitions = definitions
        self.starts = names.calls_to(*PROCESS_STARTERS)
        """Calls that start processes; of pools, those whose processes use a device."""
        for call, functions in launches.run_in_pools():
            if any(re.search(_DEVICE_WORDS, tree.text(function)) for function in functions):
                self.starts.append(call)
        self._functions: set[FunctionNode] | None = None

    def __bool__(self) -> bool:
        return bool(self.starts)

    def runs(self, node: ast.AST) -> bool:
        """Whether code at the node may run in the parent: at module level, or in a function that leads to a start."""
        if not self.starts:
            return False
        function = self.function_running(node)
        if function is None:
            return True
        if self._functions is None:
            self._functions = self._find_functions()
        return function in self._functions

    def function_running(self, node: ast.AST) -> FunctionNode | None:
        """The function whose call runs the node; defaults and decorators run where the function is defined."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, FUNCTIONS) and self._tree.in_body(ancestor, child):
                return ancestor
            child = ancestor
        return None

    def _find_functions(self) -> set[FunctionNode]:
        """Functions in which processes are started, and those that call them."""
        found: set[FunctionNode] = set()
        waiting = list(self.starts)
        while waiting:
            function = self._tree.function_of(waiting.pop())
            if function is not None and function not in found:
                found.add(function)
                waiting.extend(self._definitions.calls_of(function))
        return found
