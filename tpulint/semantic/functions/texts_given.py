"""Texts that a call gives the code which it runs: ``model(x, mode="sample")``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.default_flags import is_open, literal
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode


def texts_given(names: Names, name: ast.AST, function: FunctionNode, run: ast.Call) -> dict[str, str]:
    """The texts that a call of a method gives for the variables of an expression, or leaves at their defaults."""
    if is_open(run):
        return {}
    given = dict(arguments_given(run, function, is_method=True))
    texts = {}
    for node in (node for node in ast.walk(name) if isinstance(node, ast.Name)):
        key, default = _asked_for(names, node, function)
        value = None if key is None else given.get(key, default)
        text = None if value is None else literal(value)
        if text is not None and isinstance(text[0], str):
            texts[node.id] = text[0]
    return texts


def _asked_for(names: Names, name: ast.Name, function: FunctionNode) -> tuple[str | None, ast.expr | None]:
    """The argument that a variable is, and its default: of a parameter, or ``mode = kwargs.get("mode", "train")``."""
    bindings = names.bindings(name)
    if len(bindings) != 1 or bindings[0].path:
        return None, None
    value = bindings[0].value
    if bindings[0].kind == "parameter" and bindings[0].statement is function:
        return name.id, value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or function.args.kwarg is None:
        return None, None
    source, key = value.func.value, literal(value.args[0]) if len(value.args) == 2 else None
    is_of_call = isinstance(source, ast.Name) and source.id == function.args.kwarg.arg
    is_asked = is_of_call and value.func.attr in ("get", "pop") and key is not None and isinstance(key[0], str)
    return (str(key[0]), value.args[1]) if is_asked and key is not None else (None, None)
