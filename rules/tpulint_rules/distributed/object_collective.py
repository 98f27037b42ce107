"""Python objects sent through a process group that carries XLA tensors only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic.origins import origins

_COLLECTIVES = (
    "broadcast_object_list", "all_gather_object", "gather_object", "scatter_object_list", "send_object_list",
    "recv_object_list",
)  # fmt: skip


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*(f"torch.distributed.{name}" for name in _COLLECTIVES)):
        if any(keyword.arg in ("group", "device", None) for keyword in call.keywords) or not _joins_device_group(ctx):
            continue
        name = (ctx.index.qualified_name(call.func) or "").rpartition(".")[2]
        message = f"`{name}` sends bytes as a CPU tensor, which the backend `xla` refuses: RuntimeError"
        advice = 'Give it a group of its own: `group=dist.new_group(backend="gloo")`, made once on every process'
        yield ctx.finding(call, message, help=advice)


def _joins_device_group(ctx: FileContext) -> bool:
    for call in ctx.index.calls_to("torch.distributed.init_process_group"):
        backend = next((keyword.value for keyword in call.keywords if keyword.arg == "backend"), None)
        backend = call.args[0] if call.args else backend
        found = origins(ctx.index, backend) if backend is not None else []
        if any(isinstance(origin.node, ast.Constant) and origin.node.value in ("nccl", "xla") for origin in found):
            return True
    return False
