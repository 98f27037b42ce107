"""A distributed sampler that asks a process group which does not exist."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint_rules.distributed._samplers import SAMPLERS

_JOINS = r"init_process_group|PartialState|Accelerator\(|init_distributed|dist_init|set_world_size"


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.launches or index.mentions(_JOINS):
        return
    for call in index.calls_to(*SAMPLERS):
        launch = index.launches.launch_of(call)
        if launch is None or not launch.is_xla or len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
            continue
        given = {item.arg for item in call.keywords}
        if None in given or given >= {"num_replicas", "rank"}:
            continue
        if not given.isdisjoint(("num_replicas", "rank")):
            other = "rank" if "num_replicas" in given else "num_replicas"
            yield ctx.finding(
                call, f"the sampler asks a process group for its `{other}`, and no group was joined: it raises"
            )
            continue
        fix = ctx.fix("Ask the XLA runtime", Applicability.SAFE, "The call raised before.")
        xr = fix.use("torch_xla.runtime", alias="xr", at=call)
        end = index.span(call).end - 1
        if ctx.source.text[:end].rstrip().endswith(","):
            fix.give_up()
        fix.insert(end, f", num_replicas={xr}.world_size(), rank={xr}.global_ordinal()")
        yield ctx.finding(
            call, "the sampler asks a process group for its rank, and no group was joined: it raises", fix
        )
