"""Tensor classes that are handed to functions which convert with them: ``[x.type(dtype) for x in sequence]``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import definition_called
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

TENSOR, LIST = "tensor", "list"
"""What such a function gives: one tensor, or a list of them."""
_VARIABLE = "torch.autograd.Variable"
_DEPTH = 3


def given_by(index: SemanticIndex, call: ast.Call, handed: ast.expr, depth: int = 0) -> str | None:
    """What a call gives that hands a class to a function, here or in another file, which does nothing else with it.

    Its tensors are converted with the class and returned as they are; None where anything else is done.
    """
    found = definition_called(index, call)
    if found is None or not isinstance(found.node, FUNCTIONS) or depth > _DEPTH:
        return None
    is_method = found.file.tree.class_of(found.node) is not None
    parameter = next((name for name, item in arguments_given(call, found.node, is_method) if item is handed), "")
    names, tree = found.file.names, found.file.tree
    loads = names.loads(parameter, names.scope_of(found.node.body[0])) if parameter else []
    returned = found.file.definitions.returned_by(found.node)
    made: set[str | None] = set()
    for load in loads:
        user = tree.parents[load]
        if not isinstance(user, ast.Call) or load not in user.args:
            return None
        is_conversion = isinstance(user.func, ast.Attribute) and user.func.attr == "type" and user.args == [load]
        kind = TENSOR if is_conversion else given_by(found.file, user, load, depth + 1)
        whole: ast.expr = user
        holder = tree.parents[whole]
        if isinstance(holder, ast.Call) and holder.args == [whole] and names.qualified(holder.func) == _VARIABLE:
            whole, holder = holder, tree.parents[holder]
        if isinstance(holder, ast.ListComp) and holder.elt is whole and kind == TENSOR:
            whole, kind = holder, LIST
        if whole not in returned:
            return None
        made.add(kind)
    return made.pop() if len(made) == 1 and len(returned) == len(loads) else None
