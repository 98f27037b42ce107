"""Mixed precision that is what it was on CUDA, and bfloat16 without scaling on XLA."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic.cuda.mixed_precision import Autocast, Scaler
from tpulint.semantic.values.value import is_true
from tpulint_rules.precision._host_arrays import read_in_float32
from tpulint_rules.precision._problems import SCALER, is_off, is_text, problem_of

_PARAMETERS = ("dtype", "enabled", "cache_enabled")
"""Of ``torch.autocast``, behind the type of the device."""


def portable_findings(ctx: FileContext) -> Iterator[Finding]:
    """Findings about autocast calls and scalers, with one fix for all: a scaler is right where float16 is."""
    autocasts = ctx.index.mixed_precision.autocasts
    found = [(autocast, *problem) for autocast in autocasts if (problem := problem_of(ctx, autocast))]
    scalers = [scaler for scaler in ctx.index.mixed_precision.scalers if not scales_on_cuda_only(ctx, scaler)]
    if not found and not scalers:
        return
    reason = "On CUDA nothing changes; on XLA bfloat16, which needs no scaling, stands in for float16."
    fix = ctx.fix("Cast and scale as the device needs it", Applicability.SAFE, reason, Scope.MODULE)
    for autocast, *_, certainty in found:
        _retarget(ctx, fix, autocast)
        if certainty is Certainty.LIKELY:
            reason = "Where a device type is a variable, it is likely, not certain, that it means the device."
            fix.lower(Applicability.UNSAFE, reason)
    for scaler in scalers:
        _scale_on_cuda_only(ctx, fix, scaler.call)
    read_in_float32(ctx, fix, [autocast for autocast, *_ in found])
    group = fix.build()
    for autocast, message, severity, certainty in found:
        yield ctx.finding(autocast.call, message, group, severity=severity, certainty=certainty)
    for scaler in scalers:
        yield ctx.finding(scaler.call, SCALER, group)


def portable_autocast(ctx: FileContext, node: ast.expr) -> FixBuilder:
    """``torch.cuda.amp.autocast`` itself, handed on to be called elsewhere."""
    fix = ctx.fix("Cast as the device needs it", Applicability.SAFE, "On CUDA nothing changes.")
    fix.replace(node, fix.emit.runtime("autocast", node))
    return fix


# -------------------------------------------------------------------- autocast


def _retarget(ctx: FileContext, fix: FixBuilder, autocast: Autocast) -> None:
    arguments = autocast.arguments
    if arguments is None:
        fix.give_up()
        return
    device, dtype = arguments.get("device_type"), arguments.get("dtype")
    if device is not None and not is_text(device, "cuda"):
        assert dtype is not None  # float16, whatever the device
        torch = fix.use("torch", at=autocast.call)
        if is_text(device, "xla"):
            fix.replace(dtype, f"{torch}.bfloat16")
        elif isinstance(device, ast.Name | ast.Attribute):
            fix.replace(dtype, f'{torch}.bfloat16 if {ctx.text(device)} == "xla" else {torch}.float16')
        else:
            fix.give_up()
        return
    fix.replace(autocast.callee, fix.emit.runtime("autocast", autocast.call))
    if device is not None:
        _leave_out_device(ctx, fix, autocast, device)


def _leave_out_device(ctx: FileContext, fix: FixBuilder, autocast: Autocast, device: ast.expr) -> None:
    """Take out the type of the device; what follows by position gets its name."""
    call = autocast.call
    fix.delete_argument(call, next((item for item in call.keywords if item.value is device), device))
    for argument, name in zip(autocast.positional[1:], _PARAMETERS, strict=False):
        if fix.covers(ctx.index.span(argument)):
            fix.give_up()
        fix.insert(ctx.index.span(argument).start, f"{name}=")


# -------------------------------------------------------------------- scalers


def scales_on_cuda_only(ctx: FileContext, scaler: Scaler) -> bool:
    """Whether a scaler is off, or asks for CUDA: one that is off does nothing and reads nothing."""
    if is_off(scaler.call) or ctx.index.guards.is_for_cuda(scaler.call):
        return True
    enabled = next((item.value for item in scaler.call.keywords if item.arg == "enabled"), None)
    return enabled is not None and ctx.index.guards.asks_cuda(enabled)


def _scale_on_cuda_only(ctx: FileContext, fix: FixBuilder, call: ast.Call) -> None:
    question = fix.emit.cuda_question(call)
    enabled = next((item.value for item in call.keywords if item.arg == "enabled"), None)
    if any(item.arg is None for item in call.keywords) or len(call.args) > 4:
        fix.give_up()  # what is passed for `enabled` is not seen
    elif enabled is None:
        fix.set_argument(call, "enabled", question)
    elif is_true(enabled):
        fix.replace(enabled, question)
    else:
        text = ctx.text(enabled)
        atom = isinstance(enabled, ast.Name | ast.Attribute | ast.Call | ast.Compare | ast.Subscript)
        fix.replace(enabled, f"{text if atom else f'({text})'} and {question}")
