"""Batches of graphs: as many nodes and edges as the drawn graphs have, another number in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding

_GEOMETRIC = "torch_geometric."
_DGL = "dgl.dataloading."
_LOADERS = frozenset({
    "DataLoader", "DataListLoader", "DynamicBatchSampler", "NeighborLoader", "LinkNeighborLoader", "NeighborSampler",
    "HGTLoader", "ClusterLoader", "GraphSAINTNodeSampler", "GraphSAINTEdgeSampler", "GraphSAINTRandomWalkSampler",
    "ShaDowKHopSampler", "RandomNodeLoader", "ImbalancedSampler", "GraphDataLoader",
})  # fmt: skip


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.mentions(r"\b(SamplePoints|FixedPoints)\b"):
        return  # clouds of as many points each
    told: set[ast.Call] = set()
    for loop in index.step_loops:
        for call in index.loaders.makers_of(loop.node, loop.functions):
            name = index.qualified_name(call.func) or ""
            if call in told or name.rpartition(".")[2] not in _LOADERS or not name.startswith((_GEOMETRIC, _DGL)):
                continue
            told.add(call)
            yield ctx.finding(
                call,
                "each batch of graphs has its own number of nodes and edges, and the step is compiled for each",
                certainty=Certainty.LIKELY,
                related=((index.span(loop.node), "the training loop takes its batches here"),),
            )
