"""Loops that train on one batch several times: ``for _ in range(repeats):`` in a loop over a loader."""

from __future__ import annotations

import ast

from tpulint.semantic.tree import FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def loop_of_batch(index: SemanticIndex, loop: LoopNode | FunctionNode) -> ast.For | None:
    """The loop around one that counts, which gives it the batch that each of its turns takes; None of other loops."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    if index.qualified_name(loop.iter.func) != "builtins.range":
        return None
    around = index.tree.loop_of(loop)
    if not isinstance(around, ast.For) or index.function_of(around) is not index.function_of(loop):
        return None
    dealt = _names(index, around.target, ast.Store) - {index.counters.of(around)}
    for statement in around.body:
        if index.tree.encloses(statement, loop):
            break
        if isinstance(statement, ast.Assign) and dealt & _names(index, statement.value, ast.Load):
            dealt |= {name for target in statement.targets for name in _names(index, target, ast.Store)}
    if dealt & _names(index, loop.iter, ast.Load):
        return None  # goes through the samples of a batch, `for i in range(len(x))`
    taken = {name for statement in loop.body for name in _names(index, statement, ast.Load)}
    return around if dealt & taken else None


def _names(index: SemanticIndex, node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    parts = (node, *index.tree.inside(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, context)}
