"""Functions that a loop or another function runs only through some of its calls: behind a gate, or in no training."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tpulint.semantic.syntax.nodes import FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.loops.events import EventMap
    from tpulint.semantic.syntax.tree import SyntaxTree


def rare_functions(
    tree: SyntaxTree, events: EventMap, root: ast.AST, is_rare: Callable[[ast.Call, list[FunctionNode]], bool]
) -> set[FunctionNode]:
    """Those that nothing but rare calls runs, themselves or by others. A call is given with all that it runs."""
    always: set[FunctionNode] = set()
    rare: set[FunctionNode] = set()
    waiting = [root]
    while waiting:
        for call in tree.nodes_in(waiting.pop(), ast.Call, functions=False):
            called = events.functions_of(call)
            below = [one for function in called for one in (function, *events.of(function).functions)]
            if below and is_rare(call, below):
                rare.update(below)
            else:
                waiting += [function for function in called if function not in always]
                always.update(called)
    return rare - always
