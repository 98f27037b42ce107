"""Loaded tensors put in the place of parameters on the device: they stay on the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.origins import origins

_LOADS = ("torch.load", "safetensors.torch.load_file", "torch.hub.load_state_dict_from_url")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call, module in index.method_calls("load_state_dict"):
        assign = next((item for item in call.keywords if item.arg == "assign"), None)
        if assign is None or not isinstance(assign.value, ast.Constant) or assign.value.value is not True:
            continue
        if not call.args or not _is_loaded(ctx, call.args[0]) or not index.moves.is_on_device(module, call):
            continue
        if index.moves.is_moved_behind(module, call):
            continue
        reason = "The values are copied into the parameters, which keep their dtype."
        fix = ctx.fix("Copy the values into the parameters", Applicability.UNSAFE, reason)
        fix.delete_argument(call, assign)
        message = "`assign=True` puts the loaded tensors of the host in the place of the parameters on the device"
        yield ctx.finding(assign, message, fix)


def _is_loaded(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a state comes from a file: ``torch.load(path)["model"]``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    found = [origin.node for origin in origins(ctx.index, node)]
    while any(isinstance(item, ast.Subscript) for item in found):
        bases = [item.value if isinstance(item, ast.Subscript) else item for item in found]
        found = [origin.node for base in bases for origin in origins(ctx.index, base)]
        if found == bases:
            break
    return bool(found) and all(
        isinstance(item, ast.Call) and ctx.index.qualified_name(item.func) in _LOADS for item in found
    )
