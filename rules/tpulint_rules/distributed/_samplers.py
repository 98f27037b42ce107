"""Samplers that share samples out among processes."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.semantic import LoopNode, SemanticIndex

SAMPLERS = (
    "torch.utils.data.DistributedSampler",
    "torch.utils.data.distributed.DistributedSampler",
)


def sharers(index: SemanticIndex, call: ast.Call) -> ast.expr | None:
    """How many share the samples, as a sampler is told, one of another library too: ``num_replicas=n``."""
    told = next((keyword.value for keyword in call.keywords if keyword.arg == "num_replicas"), None)
    if told is not None or index.qualified_name(call.func) not in SAMPLERS or len(call.args) < 2:
        return told
    return None if any(isinstance(item, ast.Starred) for item in call.args[:2]) else call.args[1]


def has_epochs(ctx: FileContext, loop: LoopNode) -> bool:
    """Whether a loop over epochs stands around a step loop, in its function or in one that calls it."""
    return any(ctx.index.tree.loop_of(place) is not None for _, place in ctx.index.moves.places(loop))
