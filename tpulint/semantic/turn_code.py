"""Code that runs in every turn of a step or evaluation loop: its body, the functions it calls, the forward passes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeVar

from tpulint.semantic.tree import FUNCTIONS, LOOPS, FunctionNode, LoopNode

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

Node = TypeVar("Node", bound=ast.AST)

STEP = "step"
EVALUATION = "evaluation batch"


class TurnCode:
    """Tells for any node whether, and for what, it runs in every turn. What only a log interval runs does not."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        regions = index.regions
        self._loops: dict[LoopNode, str] = dict.fromkeys(regions.evaluation_loops, EVALUATION)
        self._loops.update((loop.node, STEP) for loop in regions.step_loops)
        self._functions: dict[FunctionNode, str] = {}
        self._nodes: dict[type[ast.AST], list[ast.AST]] | None = None
        for loop in regions.step_loops:
            self._follow([f for f in loop.functions if not regions.is_gated(f)], STEP)
        for node in regions.evaluation_loops:
            self._follow(regions.functions_in(node), EVALUATION)
        if self._loops:
            self._follow(list(self._forwards()), STEP if regions.step_loops else EVALUATION)

    @property
    def loops(self) -> dict[LoopNode, str]:
        """Step loops and evaluation loops, with what a turn of theirs is called."""
        return self._loops

    def turn_of(self, node: ast.AST) -> str | None:
        """What the turn is called in which the node runs every time: ``step``, ``evaluation batch``; else None."""
        if not self._loops or self._index.regions.gate_of(node) is not None:
            return None
        child = node
        for ancestor in self._index.tree.ancestors(node):
            if isinstance(ancestor, LOOPS) and ancestor in self._loops and self._index.tree.in_body(ancestor, child):
                return self._loops[ancestor]
            if isinstance(ancestor, FUNCTIONS):
                return self._functions.get(ancestor)
            child = ancestor
        return None

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Nodes of a class in the loops and functions, in order of position; gates are not looked at."""
        if self._nodes is None:
            self._nodes = {}
            seen: set[ast.AST] = set()
            for holder in (*self._loops, *self._functions):
                for node in self._index.tree.inside(holder, functions=False):
                    if node not in seen:
                        seen.add(node)
                        self._nodes.setdefault(node.__class__, []).append(node)
        return sorted((n for n in self._nodes.get(kind, ()) if isinstance(n, kind)), key=self._index.span)

    def loop_within(self, node: ast.AST) -> LoopNode | None:
        """The innermost loop around a node that a single turn runs to its end; None when the turn's own is nearer."""
        loop = self._index.tree.loop_of(node)
        return loop if loop is not None and loop not in self._loops else None

    def _forwards(self) -> list[FunctionNode]:
        """Forward passes of the module classes that this file makes an instance of."""
        index = self._index
        made = {node.id for node in index.tree.names if isinstance(node.ctx, ast.Load)}
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
            for node in self._index.tree.inside(function, functions=False):
                if isinstance(node, ast.Call):
                    waiting.extend(self._index.regions.events.functions_of(node))
