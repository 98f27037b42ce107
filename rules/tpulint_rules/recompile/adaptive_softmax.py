"""The adaptive softmax sorts the targets into clusters, each as large as the data says."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.kinds.mentions_device and ctx.index.is_program:
        return
    for call in ctx.index.calls_to("torch.nn.AdaptiveLogSoftmaxWithLoss"):
        yield ctx.finding(
            call,
            "it asks on the host, in every step, which targets belong to each cluster, "
            "and is compiled for each of their numbers",
        )
