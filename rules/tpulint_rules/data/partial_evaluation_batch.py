"""The last batch of an evaluation has a shape of its own, for which the model is compiled once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic.loops.turn_code import EVALUATION
from tpulint_rules.data._cut_batches import Remainder, remainder, remainder_made
from tpulint_rules.data._loader_phases import chosen_for_training, phases_trained
from tpulint_rules.data._next_batches import rest_of_next
from tpulint_rules.data._partial_batches import is_left_out_by_loops, is_partial_unshuffled, may_be_partial


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for loader in index.loaders.of_device:
        is_chosen = chosen_for_training(index, loader)
        if not loader.feeds_evaluation or is_chosen or is_left_out_by_loops(index, loader.evaluations):
            continue
        is_partial = may_be_partial(index, loader, by_default=True)
        if is_partial or is_partial_unshuffled(index, loader):
            # Else TPU501 tells of the training, or nothing is left over in it.
            together = is_partial and loader.feeds and is_chosen is None and phases_trained(index, loader) is None
            what = "training and the evaluation are" if together else "evaluation is"
            yield ctx.finding(
                loader.call,
                f"the last batch may be smaller, and the {what} compiled again for its shape",
                certainty=Certainty.LIKELY,
            )
    for (places, cuts), taker in _cut_by_hand(ctx):
        yield ctx.finding(
            places,
            "the last batch that is cut may be smaller, and the evaluation is compiled again for its shape",
            certainty=Certainty.LIKELY,
            related=((index.span(cuts[0]), "the batch is cut here"), (index.span(taker), "the loop that takes them")),
        )


def _cut_by_hand(ctx: FileContext) -> Iterator[tuple[Remainder, ast.AST]]:
    """Batches that the loop itself, a function of the file or a list that is written out cuts by slices."""
    index = ctx.index
    if not (index.tree.loops or index.outside):
        return
    for loop, turn in index.turn_code.loops.items():
        found = remainder(ctx, loop, is_turn=True) if turn == EVALUATION else None
        if found is not None:
            yield found, loop
    for maker in index.batch_makers.all:
        found = remainder_made(ctx, maker) if maker.turn == EVALUATION else None
        if found is not None:
            yield found, maker.loop if maker.taker is None else maker.taker
    for function, turn, taker in index.batch_makers.iterators.values():
        rest = rest_of_next(ctx, function) if turn == EVALUATION else None
        if rest is not None:
            yield (rest, [rest]), function if taker is None else taker
