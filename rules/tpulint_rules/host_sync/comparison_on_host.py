"""Comparisons that Python makes between values of the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Pace, Severity

_EXTREMES = {"builtins.max": "maximum", "builtins.min": "minimum"}
_CLASSES = ("torch.Tensor", "torch.FloatTensor", "torch.DoubleTensor", "torch.LongTensor", "torch.IntTensor")
_BY_HALVES = "Where both are equal the gradient goes to both, and a NaN on either side wins."
_ON_DEVICE = "The result has the dtype of its parts."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.loops:
        return
    yield from _made_of_lists(ctx)
    for call in index.turn_code.nodes(ast.Call):
        name = index.qualified_name(call.func)
        if name not in (*_EXTREMES, "builtins.sorted", "torch.tensor") or not call.args:
            continue
        tensors = [item for item in _compared(call, name) if index.is_device_tensor(item)]
        turn = index.turn_code.turn_of(call) if tensors else None
        if turn is None:
            continue
        short = name.rpartition(".")[2]
        does = "reads each of its parts from" if short == "tensor" else "compares on the host what is on"
        yield ctx.finding(
            call,
            f"`{short}` {does} the device, in every {turn}",
            _fix(ctx, call, name, tensors),
            certainty=Certainty.CERTAIN if all(index.value(item).certain for item in tensors) else Certainty.LIKELY,
        )


def _made_of_lists(ctx: FileContext) -> Iterator[Finding]:
    """``torch.tensor(losses)``, of a list that tensors of the device were put into."""
    index = ctx.index
    for call in index.calls_to("torch.tensor", *_CLASSES):
        values = call.args[0] if len(call.args) == 1 else None
        elements = index.kinds.contents.of(values) if isinstance(values, ast.Name | ast.Attribute) else []
        tensors = [item for item in elements if index.is_device_tensor(item)]
        turn, pace = index.turn_code.turn_of(call), index.paces.of(call)
        if not tensors or (turn is None and pace not in (Pace.EPOCH, Pace.LOG_INTERVAL)):
            continue
        yield ctx.finding(
            call,
            f"`{short(ctx.text(call))}` reads each of its elements from the device, one by one"
            + ("" if turn is None else f", in every {turn}"),
            _stacked(ctx, call, tensors == elements),
            severity=Severity.WARNING if turn is None else ctx.rule.severity,
            certainty=Certainty.CERTAIN if all(index.value(item).certain for item in tensors) else Certainty.LIKELY,
        )


def _stacked(ctx: FileContext, call: ast.Call, is_whole: bool) -> FixBuilder | None:
    """One tensor of those in the list, fetched at once where it was one of the host."""
    index, values = ctx.index, call.args[0]
    elements = index.kinds.contents.of(values)
    name = (index.qualified_name(call.func) or "").rpartition(".")[2]
    if not is_whole or not all(map(index.scalars.is_scalar, elements)) or name not in ("tensor", "FloatTensor"):
        return None
    if [item.arg for item in call.keywords] not in ([], ["device"]):
        return None
    fix = ctx.fix("Stack them on the device", Applicability.UNSAFE, _ON_DEVICE)
    method = index.parent(call)
    move = index.parent(method) if isinstance(method, ast.Attribute) else None
    is_moved = isinstance(move, ast.Call) and index.moves.to_device(move) is not None
    goes = f".to({ctx.text(call.keywords[0].value)})" if call.keywords else "" if is_moved else ".cpu()"
    is_cast = ".float()" if name == "FloatTensor" else ""
    fix.replace(call, f"{fix.use('torch', at=call)}.stack({ctx.text(values)}).detach(){is_cast}{goes}")
    return fix


def _compared(call: ast.Call, name: str) -> list[ast.expr]:
    """What a call looks at one by one."""
    first = call.args[0]
    if name in _EXTREMES and len(call.args) > 1:
        return call.args
    return first.elts if isinstance(first, ast.List | ast.Tuple) else []


def _fix(ctx: FileContext, call: ast.Call, name: str, tensors: list[ast.expr]) -> FixBuilder | None:
    if not all(ctx.index.scalars.is_scalar(item) for item in tensors):
        return None
    if name in _EXTREMES and len(call.args) == 2 and len(tensors) == 2 and not call.keywords:
        fix = ctx.fix("Compare on the device", Applicability.UNSAFE, _BY_HALVES)
        fix.rename_callee(call, f"{fix.use('torch', at=call)}.{_EXTREMES[name]}")
        return fix
    values = call.args[0]
    if name != "torch.tensor" or not isinstance(values, ast.List | ast.Tuple) or len(tensors) != len(values.elts):
        return None
    if [item.arg for item in call.keywords] != ["device"] or len(call.args) != 1:
        return None
    fix = ctx.fix("Stack on the device", Applicability.UNSAFE, _ON_DEVICE)
    fix.replace(call, f"{fix.use('torch', at=call)}.stack({ctx.text(values)}).detach()")
    return fix
