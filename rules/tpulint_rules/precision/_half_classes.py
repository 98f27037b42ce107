"""``x.type(torch.HalfTensor)``: the class of the host's tensors in float16, by which a batch is cast and then moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic.syntax.variables import last_name, says_device

HALF_CLASS = "torch.HalfTensor"


def half_classes(ctx: FileContext, with_model: bool) -> Iterator[ast.expr]:
    """Where the class is named for tensors that meet a model in float16: one is in the file, or they are moved at once.

    Those of the device are copied to the host by it, of which another rule tells.
    """
    index = ctx.index
    for call, receiver in index.method_calls("type"):
        asked = call.args[0] if len(call.args) == 1 else None
        if asked is None or not _is_half_class(ctx, asked) or index.is_device_tensor(receiver):
            continue
        if with_model or _is_moved_at_once(ctx, call):
            yield asked


def _is_half_class(ctx: FileContext, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == HALF_CLASS
    return ctx.index.qualified_name(node) == HALF_CLASS


def _is_moved_at_once(ctx: FileContext, call: ast.Call) -> bool:
    """``x.type(torch.HalfTensor).cuda()``, and ``.to(device)`` in its place."""
    attribute = ctx.index.parent(call)
    moved = ctx.index.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if not isinstance(attribute, ast.Attribute) or not isinstance(moved, ast.Call) or moved.func is not attribute:
        return False
    if attribute.attr == "cuda" or attribute.attr != "to" or not moved.args:
        return attribute.attr == "cuda"
    is_device = ctx.index.moves.is_device(moved.args[0])
    return is_device or (is_device is not None and says_device(last_name(moved.args[0])))
