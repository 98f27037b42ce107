"""Reads behind the boundary of a step that no transfer serves together with others."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.loops.drivers import Driver
from tpulint.semantic.loops.regions import CalledStep, Pace, Step
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.reads.chosen_reads import choice_around
from tpulint.semantic.reads.read_arrays import is_array_of_number
from tpulint.semantic.reads.reads import Read
from tpulint.semantic.syntax.nodes import FUNCTIONS, LoopNode
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try, ast.comprehension)
_TENSOR = (Kind.TENSOR.name, Side.DEVICE.name)
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
        if _runs_always(index, choice_around(index.tree, read) or read.node, loop)
        if index.boundaries.is_behind(read.node, loop) and not index.late_values.is_computed_behind(read, loop)
    ]


def reads_of_each(index: SemanticIndex, loop: Step, served: Sequence[Read]) -> list[tuple[Read, ast.For]]:
    """Reads behind the boundary of each value that a loop of the turn deals out, with that loop.

    ``for name, value in values.items(): meters[name].update(value.item())``, be it in a function of another file.
    """
    if not index.boundaries.has(loop):
        return []
    kept = {read.node for read in (*served, *index.batched_reads.collected_in(loop.node))}
    found = [
        (read, dealer)
        for read in index.deferrals.reads_of(loop)
        if read.node not in kept and index.batched_reads.is_number(read) and (dealer := _dealer(index, read))
    ]
    return [
        (read, dealer)
        for read, dealer in found
        if index.pace_of(read.node) is Pace.STEP and _runs_always(index, dealer, loop) and _deals_several(index, dealer)
        if index.boundaries.is_behind(read.node, loop) and not index.late_values.is_computed_behind(read, loop)
    ]


def _dealer(index: SemanticIndex, read: Read) -> ast.For | None:
    """The loop that gives a tensor to be read in each of its turns, whatever else it gives."""
    inner = index.turn_code.loop_within(read.node)
    tensor = read.tensor
    bindings = index.flow.reaching(tensor) if isinstance(tensor, ast.Name) else ()
    if not isinstance(inner, ast.For) or not any(binding.statement is inner for binding in bindings):
        return None
    for ancestor in index.tree.ancestors(read.node):
        if ancestor is inner:
            break
        if isinstance(ancestor, _CONDITIONS) and not (isinstance(ancestor, ast.If) and _asks_for_tensor(ancestor.test)):
            return None
    return inner


def _deals_several(index: SemanticIndex, dealer: ast.For) -> bool:
    """Whether a loop goes through more than one tensor: ``update(loss=loss)`` gives ``**values`` a single one."""
    function, root = index.function_of(dealer), dealer.iter
    while isinstance(root, ast.Call | ast.Attribute):
        root = root.func if isinstance(root, ast.Call) else root.value
    rest = None if function is None else function.args.kwarg
    made = [binding.value for binding in index.flow.reaching(root)] if isinstance(root, ast.Name) else []
    if made and all(isinstance(value, ast.Dict) and len(value.values) == 1 for value in made):
        return False
    if function is None or rest is None or not isinstance(root, ast.Name) or root.id != rest.arg:
        return True
    for call in index.definitions.calls_of(function):
        named = [item for item in call.keywords if item.arg is None or index.is_device_tensor(item.value)]
        if len(named) > 1 or any(item.arg is None for item in named):
            return True
    name = qualified_in_file(index.tree, function)
    given = [[one for one in call.arguments if one[1:] == _TENSOR] for call in index.outside if call.function == name]
    rests = [sum(one[0] == f"{rest.arg}[]" for one in tensors) for tensors in given]
    # A dictionary that is unpacked is given without names.
    return any(count > 1 or count == len(tensors) == 1 for count, tensors in zip(rests, given, strict=True))


def _asks_for_tensor(test: ast.expr) -> bool:
    """``isinstance(value, torch.Tensor)``, ``hasattr(value, "item")``"""
    return isinstance(test, ast.Call) and last_name(test.func) in ("isinstance", "hasattr", "is_tensor")


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
