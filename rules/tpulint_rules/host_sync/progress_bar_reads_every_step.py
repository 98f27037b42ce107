"""A progress bar that shows a value of the device anew in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, short
from tpulint.model import Certainty, Finding
from tpulint.semantic import Pace, Read, SemanticIndex, StepLoop, Use
from tpulint_rules.host_sync._shown_less import bars_of, shown_less, throttle


def check(ctx: FileContext) -> Iterator[Finding]:
    """Texts of progress bars with a read in them, behind the boundary of a step loop."""
    index = ctx.index
    for loop in index.step_loops:
        boundary = index.boundaries.sync_of(loop)
        if boundary is None or index.parent(boundary) is not loop.node:
            continue
        for bars in bars_of(index, loop.node.body):
            reads = [read for statement in bars for read in index.reads.inside(statement) if _counts(index, read, loop)]
            reads = [read for read in reads if not _is_needed_beside(index, read, bars, loop)]
            if not reads:
                continue
            fix = shown_less(ctx, "step")
            throttle(fix, index, loop.node, bars)
            for read in reads:
                yield ctx.finding(
                    read.node,
                    f"`{short(ctx.text(read.tensor))}` is fetched in every step for the text of a progress bar",
                    fix,
                    certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
                )


def _counts(index: SemanticIndex, read: Read, loop: StepLoop) -> bool:
    return index.pace_of(read.node) is Pace.STEP and index.boundaries.is_behind(read.node, loop)


def _is_needed_beside(index: SemanticIndex, read: Read, bars: list[ast.stmt], loop: StepLoop) -> bool:
    """Whether every step logs the value as well, ``writer.add_scalar("loss", loss.item())``.

    One transfer serves both, and the text beside the bar costs nothing.
    """
    name = read.tensor
    return isinstance(name, ast.Name) and any(
        other.use is Use.LOG
        and isinstance(other.tensor, ast.Name)
        and other.tensor.id == name.id
        and index.flow.reaching(other.tensor) == index.flow.reaching(name)
        and _counts(index, other, loop)
        and not any(index.tree.encloses(bar, other.node) for bar in bars)
        and not index.shown_texts.bars_at(index.statement_of(other.node))
        for other in index.reads.inside(loop.node)
    )
