"""Elements of a scaler's state, which is empty while the scaler is switched off."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Severity
from tpulint.semantic.syntax.variables import last_name

_MESSAGE = "the state of a gradient scaler is empty where there is no CUDA: KeyError"
_NAMED = "scaler"


def read_elements(ctx: FileContext) -> Iterator[Finding]:
    """``loss_scaler.state_dict()["scale"]`` becomes a look-up that may find nothing: the loss is not scaled then."""
    for call, scaler in ctx.index.method_calls("state_dict"):
        read = ctx.index.parent(call)
        if not isinstance(read, ast.Subscript) or not isinstance(read.ctx, ast.Load):
            continue
        key = read.slice
        if not isinstance(key, ast.Constant) or key.value != "scale" or _NAMED not in last_name(scaler).lower():
            continue
        reason = "By its name it is likely, not certain, that this is a scaler."
        fix = ctx.fix("Take 1.0 for the scale that is not there", Applicability.UNSAFE, reason)
        fix.replace(read, f"{ctx.text(call)}.get({ctx.text(key)}, 1.0)")
        yield ctx.finding(read, _MESSAGE, fix, severity=Severity.ERROR, certainty=Certainty.LIKELY)
