"""Fully sharded training of torch, which does not know XLA devices."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding

_WRAPPERS = (
    "torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.fully_shard",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    "torch.distributed._composable.fsdp.fully_shard", "torch.distributed._composable.fsdp.fully_shard.fully_shard",
    "fairscale.nn.FullyShardedDataParallel", "fairscale.nn.data_parallel.FullyShardedDataParallel",
)  # fmt: skip
_ADVICE = (
    "Use `torch_xla.distributed.fsdp.XlaFullyShardedDataParallel`, or SPMD with "
    "`torch_xla.experimental.spmd_fully_sharded_data_parallel`"
)


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*_WRAPPERS):
        name = (ctx.index.qualified_name(call.func) or "").rpartition(".")[2]
        message = f"`{name}` of torch raises on XLA devices; torch_xla has one of its own"
        yield ctx.finding(call.func, message, help=_ADVICE)
