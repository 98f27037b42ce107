"""Functions that modules run as they compute: methods of theirs, and what these call, be it in another file.

What such a function is given, or makes, is a part of what the module computes, and no batch that goes into it.
"""

from __future__ import annotations

import ast

from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_STEPS = "_step"
"""Ends the names of the methods with which a module of Lightning takes a batch: ``training_step``."""
_DEPTH = 4


def is_run_by_module(index: SemanticIndex, node: ast.AST) -> bool:
    """Whether a node stands in such a function, and none that anybody else calls."""
    functions = [holder for holder in index.tree.ancestors(node) if isinstance(holder, FUNCTIONS)]
    return any(_is_run(index, function, 0) for function in functions)


def _is_run(index: SemanticIndex, function: FunctionNode, depth: int) -> bool:
    owner = index.tree.class_of(function)
    if owner is not None and index.definitions.is_module_class(owner):
        return not function.name.endswith(_STEPS) and all(step.node is not function for step in index.steps)
    name = qualified_in_file(index.tree, function)
    outside = [call for call in index.outside if call.function == name and not call.is_unfollowed]
    inside = index.definitions.calls_of(function) if depth < _DEPTH else []
    callers = [index.tree.function_of(call) for call in inside]
    if not all(call.in_module for call in outside) or not (outside or inside):
        return False
    return all(
        caller is not None and caller is not function and _is_run(index, caller, depth + 1) for caller in callers
    )
