"""Loaded tensors put in the place of parameters on the device: they stay on the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.values.origins import origins

_LOADS = ("torch.load", "safetensors.torch.load_file", "torch.hub.load_state_dict_from_url")
_DEPTH = 2
"""Functions that return what they load."""


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call, module in index.method_calls("load_state_dict"):
        assign = next((item for item in call.keywords if item.arg == "assign"), None)
        if assign is None or not isinstance(assign.value, ast.Constant) or assign.value.value is not True:
            continue
        if not call.args or not _is_loaded(ctx, call.args[0]):
            continue
        if not index.moves.is_on_device(module, call) and not _is_emptied_onto_device(ctx, module, call):
            continue
        if index.moves.is_moved_behind(module, call):
            continue
        reason = "The values are copied into the parameters, which keep their dtype."
        fix = ctx.fix("Copy the values into the parameters", Applicability.UNSAFE, reason)
        fix.delete_argument(call, assign)
        message = "`assign=True` puts the loaded tensors of the host in the place of the parameters on the device"
        yield ctx.finding(assign, message, fix)


def _is_emptied_onto_device(ctx: FileContext, module: ast.expr, at: ast.Call) -> bool:
    """``model.to_empty(device=device)`` in front, of a model that was made on the device ``meta``."""
    index = ctx.index
    for call, emptied in index.method_calls("to_empty"):
        given = next(iter(values_given(call)), None)
        if given is not None and index.text(emptied) == index.text(module) and index.moves.precedes(call, at):
            return index.moves.is_device(given) is True
    return False


def _is_loaded(ctx: FileContext, node: ast.expr, depth: int = 0) -> bool:
    """Whether a state comes from a file: ``torch.load(path)["model"]``, be it by a function of this file."""
    while isinstance(node, ast.Subscript):
        node = node.value
    found = [origin.node for origin in origins(ctx.index, node)]
    while any(isinstance(item, ast.Subscript) for item in found):
        bases = [item.value if isinstance(item, ast.Subscript) else item for item in found]
        found = [origin.node for base in bases for origin in origins(ctx.index, base)]
        if found == bases:
            break
    return bool(found) and all(isinstance(item, ast.Call) and _loads(ctx, item, depth) for item in found)


def _loads(ctx: FileContext, call: ast.Call, depth: int) -> bool:
    if ctx.index.qualified_name(call.func) in _LOADS:
        return True
    function = ctx.index.definitions.function_called(call) if depth < _DEPTH else None
    values = [] if function is None else ctx.index.definitions.returned_by(function)
    return bool(values) and all(_is_loaded(ctx, value, depth + 1) for value in values)
