"""Copies of trained weights that share their memory: the step behind them is another graph."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic.modules.shared_weights import SharedCopy

_COMPUTED = "What is loaded is computed anew on the device, with memory of its own, and run by the boundary."


def shared_copies(ctx: FileContext) -> Iterator[Finding]:
    """Weights that a training step cannot update in place, since another model shares their memory."""
    for found in ctx.index.shared_weights.all:
        target, module = ctx.text(found.target), ctx.text(found.module)
        yield ctx.finding(
            found.copies[0],
            f"`{target}` shares the memory of the weights of `{module}` behind this copy: the step that follows cannot "
            "update them in place, and is compiled once more",
            _fix(ctx, found),
            certainty=Certainty.LIKELY,
            related=(
                *((ctx.index.span(one), "copied as well") for one in found.copies[1:]),
                *((ctx.index.span(one), "runs here") for loop in found.loops for one in loop.boundaries[:1]),
            ),
        )


def _fix(ctx: FileContext, found: SharedCopy) -> FixBuilder | None:
    if len(found.states) < len(found.copies) or ctx.index.kept_states.are_deleted:
        return None
    fix = ctx.fix("Load a copy with memory of its own", Applicability.UNSAFE, _COMPUTED, Scope.STATEMENT)
    for state in found.states:
        fix.replace(state, f"{{name: value * 1 for name, value in {ctx.text(state)}.items()}}")
    fix.insert_after(found.copies[-1], fix.emit.boundary(found.copies[-1]))
    return fix
