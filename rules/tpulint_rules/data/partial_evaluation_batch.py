"""The last batch of an evaluation has a shape of its own, for which the model is compiled once more."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint_rules.data._partial_batches import may_be_partial


def check(ctx: FileContext) -> Iterator[Finding]:
    for loader in ctx.index.loaders.all:
        if loader.feeds_evaluation and may_be_partial(ctx.index, loader, by_default=True):
            what = "training and the evaluation are" if loader.feeds else "evaluation is"
            yield ctx.finding(
                loader.call,
                f"the last batch may be smaller, and the {what} compiled again for its shape",
                certainty=Certainty.LIKELY,
            )
