"""Ways in which the memory of a tensor is handed to others: an XLA tensor has none to show."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import Kind

_EXPORTS = ("torch.utils.dlpack.to_dlpack", "torch.to_dlpack", "torch.from_dlpack", "torch.utils.dlpack.from_dlpack")
_NESTED = ("torch.nested.nested_tensor", "torch.nested.as_nested_tensor")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.moves.has_device or not index.is_program:
        return
    for call in index.calls_to(*_EXPORTS):
        if call.args and index.is_device_tensor(call.args[0]):
            yield _finding(ctx, call, call.args[0], "DLPack knows no XLA device: the export raises")
    for call in index.calls_to(*_NESTED):
        items = call.args[0].elts if call.args and isinstance(call.args[0], ast.List | ast.Tuple) else []
        for item in items[:1]:
            if index.is_device_tensor(item):
                yield _finding(ctx, call, item, "nested tensors do not exist on an XLA device")
    for call, receiver in index.method_calls("share_memory_", "share_memory"):
        if index.devices.is_guarded(call) or _is_asked_after(ctx, call):
            continue
        if index.is_device_tensor(receiver):
            yield _finding(ctx, call, receiver, "the memory of an XLA tensor cannot be shared: the call raises")
        elif index.kind(receiver) is Kind.MODULE and index.moves.is_on_device(receiver, call):
            yield ctx.finding(call, "the memory of a module on an XLA device cannot be shared: the call raises")


def _finding(ctx: FileContext, call: ast.Call, tensor: ast.expr, message: str) -> Finding:
    certain = ctx.index.value(tensor).certain
    return ctx.finding(call, message, certainty=Certainty.CERTAIN if certain else Certainty.LIKELY)


def _is_asked_after(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the call waits for the tensor to be on the host: ``if not x.is_cuda: x.share_memory_()``."""
    tests = [item.test for item in ctx.index.tree.ancestors(call) if isinstance(item, ast.If)]
    return any("is_cuda" in ctx.text(test) or "device" in ctx.text(test) for test in tests)
