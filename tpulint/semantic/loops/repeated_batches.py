"""Loops that train on one batch several times: ``for _ in range(repeats):`` in a loop over a loader."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.syntax.nodes import FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def loops_of_batch(index: SemanticIndex, loop: LoopNode | FunctionNode) -> list[ast.For]:
    """The loops around one that counts, which give it the batch that each of its turns takes; none of other loops.

    Also those that call the function which it stands in with their batch.
    """
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return []
    if index.qualified_name(loop.iter.func) != "builtins.range":
        return []
    around, function = index.tree.loop_of(loop), index.function_of(loop)
    if isinstance(around, ast.For) and index.function_of(around) is function:
        return [around] if _takes(index, loop, _dealt(index, around.body, loop, _batch_of(index, around))) else []
    if around is not None or function is None:
        return []
    found = []
    for call in index.definitions.calls_of(function):
        around = index.tree.loop_of(call)
        if isinstance(around, ast.For) and index.function_of(around) is index.function_of(call):
            batch = _dealt(index, around.body, call, _batch_of(index, around))
            given = arguments_given(call, function, index.tree.takes_object(function))
            dealt = {name for name, item in given if batch & _names(index, item, ast.Load)}
            if around not in found and _takes(index, loop, _dealt(index, function.body, loop, dealt)):
                found.append(around)
    return found


def _batch_of(index: SemanticIndex, loop: ast.For) -> set[str]:
    return _names(index, loop.target, ast.Store) - {index.counters.of(loop)}


def _dealt(index: SemanticIndex, body: list[ast.stmt], end: ast.AST, batch: set[str]) -> set[str]:
    """The names of a batch, and of what statements up to one that encloses ``end`` make of it."""
    dealt = set(batch)
    for statement in body:
        if index.tree.encloses(statement, end):
            break
        if isinstance(statement, ast.Assign) and dealt & _names(index, statement.value, ast.Load):
            dealt |= {name for target in statement.targets for name in _names(index, target, ast.Store)}
    return dealt


def _takes(index: SemanticIndex, loop: ast.For, dealt: set[str]) -> bool:
    if dealt & _names(index, loop.iter, ast.Load):
        return False  # goes through the samples of a batch, `for i in range(len(x))`
    return any(dealt & _names(index, statement, ast.Load) for statement in loop.body)


def _names(index: SemanticIndex, node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    parts = (node, *index.tree.inside(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, context)}
