"""``torchsummary``, which runs a model on CUDA or on the host, whatever device it is on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Finding

_SUMMARIES = ("torchsummary.summary", "torchsummary.torchsummary.summary")
_AT = 3
"""The position of ``device``."""
_COPIED = "A copy of the model is shown, on the host; a module that holds tensors with a history cannot be copied."


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*_SUMMARIES):
        given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "model")]
        if not given or isinstance(given[0], ast.Starred) or not _has_moved(ctx, given[0], call):
            continue
        model = short(ctx.text(given[0]))
        message = f"`torchsummary` runs `{model}` with inputs on CUDA or on the host, and it is on an XLA device"
        yield ctx.finding(call, message, _show_copy(ctx, call, given[0]))


def _has_moved(ctx: FileContext, model: ast.expr, call: ast.Call) -> bool:
    """Whether something has put a model on the device before, in front of the call or on the way to it."""
    moves = ctx.index.moves
    shown = moves.creations.of(model)
    back = (way for creation in shown for way in creation.way)
    if any(isinstance(way.func, ast.Attribute) and way.func.attr == "cpu" for way in back):
        return False
    before = (move for move in moves.moves if moves.precedes(move.call, call) is True)
    return any(made.overlaps(other) for move in before for made in moves.moved_by(move) for other in shown)


def _show_copy(ctx: FileContext, call: ast.Call, model: ast.expr) -> FixBuilder | None:
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        return None
    fix = ctx.fix("Show a copy on the host", Applicability.UNSAFE, _COPIED)
    fix.replace(model, f"{fix.use('copy', at=call)}.deepcopy({ctx.text(model)}).cpu()")
    if len(call.args) > _AT:
        fix.replace(call.args[_AT], '"cpu"')
    else:
        fix.set_argument(call, "device", '"cpu"')
    return fix
