"""Comprehensions that evaluate and read nothing: ``[model(x) for x, y in loader]`` is one graph of all batches."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic import SemanticIndex
from tpulint.semantic.syntax.nodes import Comprehension
from tpulint_rules.step._host_loops import runs_on_host


def lists_left_pending(ctx: FileContext) -> Iterator[Comprehension]:
    """Those without a boundary. A read of each batch runs it as well, and the list keeps nothing but what is read."""
    index = ctx.index
    for listed, functions in index.regions.listed_evaluations.items():
        has_boundary = bool(index.regions.events.events_in(listed.elt).boundaries) or _sets_boundaries(index, listed)
        is_read = any(map(index.reads.inside, (listed.elt, *functions)))
        if not has_boundary and not is_read and not runs_on_host(ctx, listed):
            yield listed


def _sets_boundaries(index: SemanticIndex, listed: Comprehension) -> bool:
    if "xla" not in index.source.text:
        return False
    from tpulint.semantic.batches.device_loaders import DeviceLoaders

    return DeviceLoaders(index.names, index.definitions).iterates(listed.generators[0].iter)
