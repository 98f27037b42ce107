"""Gradients through a batch normalisation in evaluation mode, which torch_xla has no backward pass for."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity

_REASON = "Only layers that would raise are computed otherwise; that gradients go through some is likely, not certain."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    norms = index.frozen_norms
    if norms.are_supported or (index.is_program and not index.kinds.mentions_device):
        return
    for call in norms.frozen:
        yield ctx.finding(
            call,
            f"`{ctx.text(call)}` freezes a batch normalisation: a gradient through it raises in `backward()` on XLA",
            _support(ctx),
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
        )
    for calls, did, does in (
        (norms.passed, "put into evaluation mode", "into evaluation mode"),
        (norms.left, "left in evaluation mode a turn before", "leaves it in evaluation mode"),
    ):
        for call, switch in calls:
            yield ctx.finding(
                call,
                f"the gradient goes through a model that `{ctx.text(switch)}` {did}: its batch normalisations raise in "
                "the backward pass on an XLA device",
                _support(ctx),
                certainty=Certainty.LIKELY,
                related=((index.span(switch), does),),
            )


def _support(ctx: FileContext) -> FixBuilder:
    fix = ctx.fix(
        "Let gradients pass batch normalisations in evaluation mode", Applicability.UNSAFE, _REASON, Scope.STATEMENT
    )
    fix.insert_below_imports(f"{fix.use('tpulint_runtime')}.support_frozen_batch_norm()")
    return fix
