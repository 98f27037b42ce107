"""An evaluation loop whose batches all end up in one graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope, Span
from tpulint.semantic import LoopNode
from tpulint.semantic.reads.reading_calls import ReadingCalls
from tpulint_rules.step._host_loops import runs_on_host
from tpulint_rules.step._kept_pending import SAFE, kept_pending
from tpulint_rules.step._left_pending import left_pending

_ONE_GRAPH = "all of its batches become one graph"
_READ = "only its reads run the batches, and what no read needs is left to the next one"
_WRITTEN_OUT = "Write the comprehension out as a loop, and end each batch with a boundary."
KEPT = "Weights kept on the device are loaded again: with a boundary behind the load, an update can delete them."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every evaluation loop without a boundary."""
    index = ctx.index
    pending = left_pending(index)
    places = {loop: left.statement for loop, left in pending.items()}
    if index.kinds.mentions_device:
        places |= {loop: index.turns.evaluation_place(loop) for loop in index.regions.evaluation_loops}
    reading_calls = ReadingCalls(index)
    for loop, place in places.items():
        if index.regions.boundaries_in(loop) or index.clocks.ends_batch(loop) or runs_on_host(ctx, loop):
            continue
        if reading_calls.run_turns(loop):
            continue
        is_read_there = loop in pending and pending[loop].is_read
        fix = ctx.fix("Run each batch on its own", Applicability.SAFE, SAFE, Scope.STATEMENT)
        if index.kept_states.are_deleted:
            fix.lower(Applicability.UNSAFE, KEPT)
        fix.insert_after(place, fix.emit.boundary(place))
        last = loop.test if isinstance(loop, ast.While) else loop.iter
        where = Span(index.span(loop).start, index.span(last).end)
        name = (
            "loop that adds up gradients"
            if index.regions.evaluation.batches.gathers_gradients(loop)
            else "evaluation loop"
        )
        is_read = _reads_each_batch(ctx, loop) or is_read_there
        message = f"{name} has no step boundary: {_READ if is_read else _ONE_GRAPH}"
        # Behind what the other file has read, a boundary would run the batch once more: it belongs in front of that.
        yield ctx.finding(where, message, None if is_read_there else fix, runs=loop)
    if index.kinds.mentions_device and index.regions.listed_evaluations:
        from tpulint_rules.step._listed_evaluations import lists_left_pending

        message = f"evaluation in a comprehension has no step boundary: {_ONE_GRAPH}"
        for listed in lists_left_pending(ctx):
            yield ctx.finding(listed, message, help=_WRITTEN_OUT, runs=listed.elt)
    if index.kinds.mentions_device:
        yield from kept_pending(ctx)


def _reads_each_batch(ctx: FileContext, loop: LoopNode) -> bool:
    """Whether every batch reads from the device, in what the loop calls too, which runs what was recorded so far."""
    index = ctx.index
    holders = (loop, *index.regions.evaluated_in(loop))
    if any(index.regions.gate_of(read.node) is None for holder in holders for read in index.reads.inside(holder)):
        return True
    return any(map(ReadingCalls(index).hands_to_reader, holders))
