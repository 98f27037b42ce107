"""Averaged models that count their updates on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import Pace

_AVERAGED = "torch.optim.swa_utils.AveragedModel"
_UPDATES = {_AVERAGED: "update_parameters", "ema_pytorch.EMA": "update"}
"""Classes of averaged models that count their updates in a buffer, with the method that asks for the count."""
_READS = "reads the count of updates there twice, and the host waits for the device"
_REASON = "The averaged model is a copy of the model and stands where that stands; its count stays on the host."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Where the count gets onto the device, of models that are updated in every step."""
    moves = ctx.index.moves
    for call in ctx.index.calls_to(*_UPDATES):
        name = ctx.index.qualified_name(call.func) or ""
        update = _update_in_step(ctx, call, _UPDATES[name])
        if update is None:
            continue
        given = _device_given(call) if name == _AVERAGED else None
        sure = None if given is None else moves.is_device(given.value if isinstance(given, ast.keyword) else given)
        if given is not None and sure is not None:
            message = f"the averaged model is given a device: `{ctx.text(update.func)}` {_READS}"
            yield ctx.finding(call, message, _left_out(ctx, call, given), certainty=_certainty(sure), runs=update)
        for move in moves.moves:
            if any(creation.node is call for creation in move.creations):
                message = f"the averaged model is moved with its count: `{ctx.text(update.func)}` {_READS}"
                yield ctx.finding(move.call, message, certainty=_certainty(move.certain), runs=update)


def _certainty(sure: bool) -> Certainty:
    return Certainty.CERTAIN if sure else Certainty.LIKELY


def _update_in_step(ctx: FileContext, made: ast.Call, method: str) -> ast.Call | None:
    """The call that updates this averaged model in every step."""
    for call, receiver in ctx.index.method_calls(method):
        is_it = any(creation.node is made for creation in ctx.index.moves.creations.of(receiver))
        if is_it and ctx.index.pace_of(call) is Pace.STEP:
            return call
    return None


def _device_given(call: ast.Call) -> ast.expr | ast.keyword | None:
    """The argument that names a device; None where there is none, or none that is seen."""
    if any(isinstance(item, ast.Starred) for item in call.args):
        return None
    if len(call.args) > 1:
        return call.args[1]
    return next((item for item in call.keywords if item.arg == "device"), None)


def _left_out(ctx: FileContext, call: ast.Call, given: ast.expr | ast.keyword) -> FixBuilder | None:
    """The device left out; None where the model may not be on one yet, or another argument would become the device."""
    if not 1 <= len(call.args) <= 2:
        return None
    made = ctx.index.moves.creations.of(call.args[0])
    before = (move for move in ctx.index.moves.moves if ctx.index.span(move.call).end <= ctx.index.span(call).start)
    if not any(move.certain and a.overlaps(b) for move in before for a in move.creations for b in made):
        return None
    fix = ctx.fix("Leave the device out", Applicability.UNSAFE, _REASON, Scope.EXPRESSION)
    fix.delete_argument(call, given)
    return fix
