"""Divergences of distributions that torch limits by masks, which the host reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import SemanticIndex, Side

_DIVERGENCES = frozenset({"torch.distributions.kl_divergence", "torch.distributions.kl.kl_divergence"})
_READS = {"Bernoulli": 8, "Categorical": 4, "OneHotCategorical": 4, "OneHotCategoricalStraightThrough": 4, "Uniform": 2}
"""By the class of both distributions, how often the host reads: twice for each mask."""
_SAME = "The numbers and their gradients are the same."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.kinds.mentions_device and not index.outside:
        return
    for call in index.turn_code.nodes(ast.Call):
        turn = index.turn_code.turn_of(call)
        if turn is None or index.qualified_name(call.func) not in _DIVERGENCES:
            continue
        name, value = _class_of_both(index, call), index.value(call)
        if not name or value.side is Side.HOST:
            continue
        fix = ctx.fix("Limit the divergence on the device", Applicability.SAFE, _SAME)
        fix.rename_callee(call, f"{fix.use('tpulint_runtime', at=call)}.kl_divergence")
        asked = f"asks the device where it is infinite: {_READS[name]} reads in every {turn}"
        certainty = Certainty.CERTAIN if value.side is Side.DEVICE else Certainty.LIKELY
        yield ctx.finding(call, f"`kl_divergence` of two `{name}` {asked}", fix, certainty=certainty)


def _class_of_both(index: SemanticIndex, call: ast.Call) -> str:
    """The class that both distributions are of, as far as is known: one tells it of the other; empty for any other."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("p", "q"))]
    if len(given) != 2:
        return ""
    known = [classes for item in given if (classes := index.distributions.classes_of(item))]
    found = [name for name in _READS if known and all(name in classes for classes in known)]
    return found[0] if found else ""
