"""The last batch of an epoch has a shape of its own, for which the whole step is compiled once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.loaders import Loader


def check(ctx: FileContext) -> Iterator[Finding]:
    for loader in ctx.index.loaders.all:
        if not loader.feeds or loader.feeds_evaluation or not _may_be_partial(ctx, loader):
            continue
        message = (
            "the last batch of each epoch may be smaller, and the training step is compiled again for its shape; "
            "`drop_last=True` leaves up to `batch_size - 1` samples out of each epoch"
        )
        if not _is_shuffled(loader):
            advice = (
                "Without shuffling the same samples would always be left out: "
                "pad the last batch, or choose a batch size that divides the data"
            )
            yield ctx.finding(loader.call, message, help=advice)
            continue
        fix = ctx.fix(
            "Leave out the partial batch",
            Applicability.UNSAFE,
            "Up to `batch_size - 1` samples take no part in each epoch.",
        )
        fix.set_argument(loader.call, "drop_last", "True")
        yield ctx.finding(loader.call, message, fix)


def _may_be_partial(ctx: FileContext, loader: Loader) -> bool:
    arguments = loader.arguments
    if arguments is None or not arguments.get("batch_size") or _is_given(arguments.get("batch_sampler")):
        return False
    if any(not (isinstance(value, ast.Constant) and value.value is False) for value in arguments.get("drop_last", ())):
        return False
    sizes = arguments["batch_size"]
    if all(isinstance(size, ast.Constant) and size.value in (None, 1) for size in sizes):
        return False
    return not ctx.index.loaders.divides(loader)


def _is_shuffled(loader: Loader) -> bool:
    arguments = loader.arguments or {}
    shuffle = arguments.get("shuffle", [])
    return _is_given(arguments.get("sampler")) or any(
        not isinstance(v, ast.Constant) or v.value is True for v in shuffle
    )


def _is_given(values: list[ast.expr] | None) -> bool:
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in values or ())
