"""Batches cut out of a whole by hand: the last one is what is left over."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Span
from tpulint.semantic import LOOPS, LoopNode
from tpulint.semantic.batches.batch_makers import BatchIterator, BatchMaker
from tpulint.semantic.loops.turn_code import STEP
from tpulint_rules.data._batch_rests import rest_handed_on
from tpulint_rules.data._batch_sizes import counts_batches
from tpulint_rules.data._cut_batches import remainder, remainder_made
from tpulint_rules.data._next_batches import rest_of_next

_LEFT_OUT = "Up to one batch less one of the samples take no part in each epoch."
_HELP = "pad the last batch and give the padding no weight in the loss, or leave it out"
_SHUFFLES = ("torch.randperm", "numpy.random.permutation", "random.sample")
_SHUFFLING = ("random.shuffle", "numpy.random.shuffle")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for loop in _step_loops(ctx):
        found = remainder(ctx, loop, is_turn=True)
        if found is None:
            continue
        places, slices = found
        yield ctx.finding(
            places,
            "the last batch may be smaller, and the training step is compiled again for its size",
            _fix(ctx, places) if any(_is_shuffled(ctx, item) for item in slices) else None,
            certainty=Certainty.LIKELY,
            help=_HELP,
            related=((index.span(slices[0]), "the batch is cut here"),),
        )
    if not (index.tree.loops or index.outside):
        return
    for maker in index.batch_makers.all:
        from tpulint.semantic.sizes.drawn_lengths import filled_by_draws

        found = remainder_made(ctx, maker) if maker.turn == STEP else None
        if found is None or filled_by_draws(index, maker) is not None:
            continue
        places, slices = found
        yield ctx.finding(
            places,
            f"the last batch{_made_by(maker)} may be smaller, and the training step is compiled again for its size",
            certainty=Certainty.LIKELY,
            help=_HELP,
            related=((index.span(slices[0]), "the batch is cut here"), *_taker(ctx, maker)),
        )
    for drawn in index.batch_makers.iterators.values():
        cut = rest_of_next(ctx, drawn.function) if drawn.turn == STEP else None
        if cut is not None:
            yield ctx.finding(
                cut,
                f"the last batch{_made_by(drawn)} may be smaller, and the training step is compiled again for its size",
                certainty=Certainty.LIKELY,
                help=_HELP,
                related=_taker(ctx, drawn),
            )
    told: set[ast.AST] = set()
    for maker in index.batch_makers.all:
        rest = None
        if maker.turn == STEP and maker.is_drawn and maker.function is not None:
            rest = rest_handed_on(index, maker.function)
        if rest is not None and rest not in told:
            told.add(rest)
            yield ctx.finding(
                rest.body[0],
                f"what is left is the last batch{_made_by(maker)}, "
                "and the training step is compiled again for its size",
                certainty=Certainty.LIKELY,
                help=_HELP,
                related=_taker(ctx, maker),
            )


def _step_loops(ctx: FileContext) -> list[LoopNode]:
    """The step loops of the file, and its loops of which a function of another file does the step."""
    drivers = ctx.index.regions.drivers.loops.items()
    return [
        *(loop.node for loop in ctx.index.step_loops if isinstance(loop.node, LOOPS)),
        *(node for node, driver in drivers if driver.call.turn == STEP),
    ]


def _made_by(maker: BatchMaker | BatchIterator) -> str:
    return "" if maker.function is None else f" that `{maker.function.name}` makes"


def _taker(ctx: FileContext, maker: BatchMaker | BatchIterator) -> tuple[tuple[Span, str], ...]:
    return () if maker.taker is None else ((ctx.index.span(maker.taker), "the loop that takes the batches"),)


def _is_shuffled(ctx: FileContext, cut: ast.Subscript | ast.Call) -> bool:
    """Whether what is cut comes in a new order each time."""
    index, node = ctx.index, cut.value if isinstance(cut, ast.Subscript) else None
    if not isinstance(node, ast.Name):
        return False
    for binding in index.flow.reaching(node):
        made = binding.value
        while isinstance(made, ast.Call) and index.qualified_name(made.func) is None:
            made = made.func.value if isinstance(made.func, ast.Attribute) else None  # `.tolist()`, `.to(device)`
        if isinstance(made, ast.Call) and index.qualified_name(made.func) in _SHUFFLES:
            return True
    return any(
        call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == node.id
        for call in index.calls_to(*_SHUFFLING)
    )


def _fix(ctx: FileContext, places: ast.expr) -> FixBuilder | None:
    if not isinstance(places, ast.Call) or counts_batches(ctx, places):
        return None
    fix = ctx.fix("Leave out the partial batch", Applicability.UNSAFE, _LEFT_OUT)
    count, size = fix.text(places.args[1]), fix.text(places.args[2])
    fix.replace(places.args[1], f"{count} // {size} * {size}")
    return fix
