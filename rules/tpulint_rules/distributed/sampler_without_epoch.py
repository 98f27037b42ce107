"""A distributed sampler that is never told which epoch it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic.batches.loaders import Loader
from tpulint.semantic.values.value import is_true
from tpulint_rules.distributed._samplers import SAMPLERS, has_epochs

_TOLD = r"set_epoch|set_state|lightning|accelerat|Trainer\("


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.mentions(_TOLD):
        return
    for call in index.calls_to(*SAMPLERS):
        shuffles = [*(item.value for item in call.keywords if item.arg in ("shuffle", None)), *call.args[3:4]]
        if shuffles and not is_true(shuffles[0]):
            continue
        loaders = [loader for loader in index.loaders.of_device if loader.feeds and _takes(ctx, loader, call)]
        if any(has_epochs(ctx, loop) for loader in loaders for loop in loader.loops):
            yield ctx.finding(call, "no epoch is told to the sampler: it shuffles every one alike")


def _takes(ctx: FileContext, loader: Loader, sampler: ast.Call) -> bool:
    """Whether a loader draws by a sampler."""
    given = (loader.arguments or {}).get("sampler", [])
    return any(sampler is made.node for value in given for made in ctx.index.moves.creations.of(value))
