"""Reads behind the boundary of a step that no transfer serves together with others."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.drivers import Driver
from tpulint.semantic.read_arrays import is_array_of_number
from tpulint.semantic.reads import Read
from tpulint.semantic.regions import CalledStep, Pace, Step
from tpulint.semantic.tree import FUNCTIONS, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try, ast.comprehension)
_DEPTH = 3
"""Functions between a loop and a read."""


def lone_reads(index: SemanticIndex, loop: Step, served: Sequence[Read]) -> list[Read]:
    """Numbers that every turn reads behind its boundary one by one, those ``served`` left out.

    What a function returns that comes to the boundary is not at hand in front of it, nor is what is computed behind it.
    """
    is_elsewhere = isinstance(loop, CalledStep) and not isinstance(loop, Driver)
    if is_elsewhere or not index.boundaries.has(loop):
        return []
    kept = {read.node for read in (*served, *index.batched_reads.collected_in(loop.node))}
    return [
        read
        for read in index.deferrals.reads_of(loop)
        if read.node not in kept and index.pace_of(read.node) is Pace.STEP
        if index.batched_reads.is_number(read) or is_array_of_number(index, read)
        if _runs_always(index, read.node, loop)
        if index.boundaries.is_behind(read.node, loop) and not index.late_values.is_computed_behind(read, loop)
    ]


def _runs_always(index: SemanticIndex, node: ast.AST, loop: Step, depth: int = 0) -> bool:
    """Whether every turn comes to a node, be it in a function that every turn calls."""
    child = node
    for ancestor in index.tree.ancestors(node):
        if ancestor is loop.node:
            return not isinstance(loop.node, LoopNode) or child in loop.node.body
        if isinstance(ancestor, FUNCTIONS):
            calls = [call for call in index.definitions.calls_of(ancestor) if index.step_loop_of(call) is loop]
            return depth < _DEPTH and any(_runs_always(index, call, loop, depth + 1) for call in calls)
        if isinstance(ancestor, _CONDITIONS):
            is_first = isinstance(ancestor, ast.If) and child is ancestor.test
            if not (is_first or (isinstance(ancestor, ast.BoolOp) and ancestor.values[0] is child)):
                return False
        child = ancestor
    return False
