"""torch_xla's own GRU, which forgets gradients."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope
from tpulint_rules.step._replaced_grus import replaced_classes

_SUPPORT = "tpulint_runtime.support_gru_gradients"
_TRAINS = r"\.(?:backward|fit|train)\("
_REASON = "A function of torch_xla is exchanged, for the whole process."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    is_trained = index.kinds.mentions_device and index.mentions(_TRAINS)
    if (index.is_program and not is_trained) or next(index.calls_to(_SUPPORT), None) is not None:
        return
    for node in replaced_classes(index):
        message = (
            "torch_xla replaces `nn.GRU`: what lies in front of it gets no gradient, and is not trained, where an "
            "input of the same shape that needed none came first, as in an evaluation"
        )
        yield ctx.finding(node, message, _support(ctx))


def _support(ctx: FileContext) -> FixBuilder:
    fix = ctx.fix("Let gradients pass the GRU of torch_xla", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    fix.insert_below_imports(f"{fix.use('tpulint_runtime')}.support_gru_gradients()")
    return fix
