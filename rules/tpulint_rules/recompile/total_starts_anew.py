"""A total that starts anew with a number makes another graph of that step than of all others."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for found in index.restarts.all:
        first = found.carried[0]
        yield ctx.finding(
            found.start,
            f"`{found.name}` starts anew with a number, a constant of the step that follows: "
            "that step is compiled once more",
            certainty=Certainty.LIKELY,
            related=(
                (index.span(first), "goes on in every step"),
                *((index.span(one), "runs here") for one in index.regions.boundaries_in(found.loop.node)[:1]),
            ),
        )
