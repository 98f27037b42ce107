"""Tensors that a function gives back in other dimensions: ``flatten = lambda x: x.reshape(-1)``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.syntax.flow import Flow

LAYING_OUT = frozenset({
    "view", "reshape", "squeeze", "unsqueeze", "flatten", "detach", "clone", "contiguous", "expand", "expand_as",
    "view_as", "t", "transpose", "permute", "repeat",
})  # fmt: skip
"""Methods of a tensor whose result has its elements, where it is."""


def given_to_lambda(flow: Flow, call: ast.Call) -> ast.expr | None:
    """What a call gives a variable that is a lambda, which lays it out anew."""
    bindings = flow.reaching(call.func) if isinstance(call.func, ast.Name) else ()
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
    kept = _tensor_of(made.body) if isinstance(made, ast.Lambda) else None
    if not isinstance(made, ast.Lambda) or not isinstance(kept, ast.Name) or call.keywords:
        return None
    given = zip(made.args.args, call.args, strict=False)
    return next((item for argument, item in given if argument.arg == kept.id), None)


def given_to_function(called: Definition, call: ast.Call, returned: ast.expr) -> ast.expr | None:
    """What a call gives for the parameter that a function returns so: ``def flatten(x): return x.reshape(-1)``."""
    kept = _tensor_of(returned)
    bindings = called.file.flow.reaching(kept) if isinstance(kept, ast.Name) else ()
    if len(bindings) != 1 or bindings[0].statement is not called.node or not isinstance(called.node, FUNCTIONS):
        return None
    is_method = called.file.tree.takes_object(called.node)
    return dict(arguments_given(call, called.node, is_method)).get(bindings[0].name)


def _tensor_of(node: ast.expr) -> ast.expr:
    """The tensor that ``x.contiguous().view(-1)`` has the elements of."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LAYING_OUT:
        node = node.func.value
    return node
