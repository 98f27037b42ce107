"""Python objects sent through a process group that carries XLA tensors only."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic.values.value import is_none

_COLLECTIVES = {
    "broadcast_object_list": 2, "all_gather_object": 2, "gather_object": 3, "scatter_object_list": 3,
    "send_object_list": 2, "recv_object_list": 2,
}  # fmt: skip
"""Those that send objects, and how many arguments stand in front of the group."""


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.process_groups.on_device:
        return
    for call in ctx.index.calls_to(*(f"torch.distributed.{name}" for name in _COLLECTIVES)):
        if any(keyword.arg in ("group", "device", None) for keyword in call.keywords):
            continue
        name = (ctx.index.qualified_name(call.func) or "").rpartition(".")[2]
        group = call.args[_COLLECTIVES[name] :][:1]
        if group and not is_none(group[0]):
            continue
        message = f"`{name}` sends bytes as a CPU tensor, which the backend `xla` refuses: RuntimeError"
        advice = 'Give it a group of its own: `group=dist.new_group(backend="gloo")`, made once on every process'
        yield ctx.finding(call, message, help=advice)
