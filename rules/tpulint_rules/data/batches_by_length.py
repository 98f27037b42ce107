"""Iterators of torchtext: batches of samples of one length, padded to the longest of them."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding

_ITERATORS = tuple(
    f"torchtext.{package}.BucketIterator{method}"
    for package in ("data", "legacy.data", "data.iterator")
    for method in ("", ".splits")
)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.steps or index.mentions(r"fix_length\s*="):
        return
    for call in index.calls_to(*_ITERATORS):
        yield ctx.finding(
            call,
            "each batch is as long as its longest sample: the step is compiled again for each length that occurs",
            certainty=Certainty.LIKELY,
        )
