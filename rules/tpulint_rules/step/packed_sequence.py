"""Packed sequences on the device: recurrent layers do not take them there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import Side
from tpulint.semantic.graphs.recorded import is_recorded
from tpulint_rules.step._padded_runs import argument, padded_run

_PACK, _PAD = "torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pad_packed_sequence"
_EACH_SIZE = "The lengths are read as before, and each number of elements is a shape of its own, which is compiled."
_REASON = "Another function of this file's project may take what is packed apart in a way of its own."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call in index.calls_to(_PACK):
        packed = argument(call, 0, "input")
        if packed is None or not _is_on_device(ctx, call, packed):
            continue
        fix: FixBuilder | None = None
        is_taken_apart = _only_data(ctx, call)
        has_gradient = is_recorded(index, packed) and index.regions.records_gradient(call)
        works = index.number_types.is_integer(packed) or (is_taken_apart and not has_gradient)
        if works:
            message = "a packed sequence is as long as its lengths say: the host reads them, and compiles for each size"
        elif is_taken_apart:
            message = "`backward()` raises behind packing: XLA has no gradient of it"
            fix = _taken_out_of_padded(ctx, call)
        else:
            message = "packing a device tensor fails: recurrent layers take no packed sequences on XLA"
            fix = padded_run(ctx, call) or _stays_padded(ctx)
        value = index.value(packed)
        yield ctx.finding(
            call,
            message,
            fix,
            severity=Severity.WARNING if works else Severity.ERROR,
            certainty=Certainty.CERTAIN if value.certain and value.side is Side.DEVICE else Certainty.LIKELY,
        )


def _is_on_device(ctx: FileContext, call: ast.Call, packed: ast.expr) -> bool:
    """Whether a device tensor is packed in a turn, or a module packs its input, which this or another file trains."""
    index = ctx.index
    is_in_turn = index.turn_code.turn_of(call) is not None
    if is_in_turn and index.is_device_tensor(packed):
        return True
    owner = index.tree.class_of(call)
    if owner is None or not index.definitions.is_module_class(owner):
        return False
    is_trained = is_in_turn and index.kinds.mentions_device if index.is_program else True
    return is_trained and index.value(packed).side is not Side.HOST


def _stays_padded(ctx: FileContext) -> FixBuilder:
    """Packing and unpacking of the file by the functions of the runtime, wherever the sequences go between them."""
    fix = ctx.fix("Keep the batch padded for the layers", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    for call in ctx.index.calls_to(_PACK, _PAD):
        name = ctx.index.qualified_name(call.func) or ""
        if name == _PAD or not _only_data(ctx, call):
            fix.replace(call.func, f"{fix.use('tpulint_runtime', at=call)}.{name.rpartition('.')[2]}")
    return fix


def _taken_out_of_padded(ctx: FileContext, call: ast.Call) -> FixBuilder:
    """The same elements, out of the padded batch: ``tpulint_runtime.pack_padded_sequence(scores, lengths)[0]``."""
    fix = ctx.fix("Take the elements out of the padded batch", Applicability.UNSAFE, _EACH_SIZE, Scope.STATEMENT)
    fix.replace(call.func, f"{fix.use('tpulint_runtime', at=call)}.pack_padded_sequence")
    return fix


def _only_data(ctx: FileContext, call: ast.Call) -> bool:
    """``pack_padded_sequence(targets, lengths)[0]`` or ``scores, *_ = ...``: packed elements, which no layer takes."""
    parent = ctx.index.parent(call)
    if isinstance(parent, ast.Assign):
        return any(isinstance(target, ast.Tuple | ast.List) for target in parent.targets)
    return isinstance(parent, ast.Subscript) or (isinstance(parent, ast.Attribute) and parent.attr == "data")
