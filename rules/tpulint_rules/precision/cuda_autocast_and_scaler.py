"""Autocast for CUDA has no effect on an XLA device, and a gradient scaler makes it wait in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Span
from tpulint.semantic.cuda.mixed_precision import Autocast, Scaler
from tpulint.semantic.cuda.torch_versions import is_for_older_torch
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.precision._asked_autocasts import asked_autocasts
from tpulint_rules.precision._asked_scalers import answer_for, asks_unknown
from tpulint_rules.precision._compared_devices import name_xla
from tpulint_rules.precision._host_arrays import read_in_float32
from tpulint_rules.precision._problems import (
    BFLOAT16,
    CHOSEN,
    SCALER,
    dtype_of,
    is_float16,
    is_float16_by_default,
    is_off,
    is_text,
    may_be_float16,
    problem_of,
)
from tpulint_rules.precision._scaler_states import read_elements
from tpulint_rules.precision._unscaled import only_off, take_out


def check(ctx: FileContext) -> Iterator[Finding]:
    if ctx.index.kinds.host.is_likely_under_autocast:
        return
    yield from _handed_on(ctx)
    yield from read_elements(ctx)
    for autocast in ctx.index.mixed_precision.autocasts:
        arguments = autocast.arguments or {}
        if is_text(arguments.get("device_type"), "xla") and is_float16_by_default(ctx, arguments.get("dtype")):
            yield ctx.finding(autocast.call, CHOSEN, certainty=Certainty.LIKELY)
    if ctx.portable:
        from tpulint_rules.precision._portable import portable_findings

        yield from portable_findings(ctx)
        return
    yield from _held_by_timm(ctx)
    yield from asked_autocasts(ctx)
    found = [
        (autocast, *problem)
        for autocast in ctx.index.mixed_precision.autocasts
        if (problem := problem_of(ctx, autocast)) and not _stays(ctx, autocast)
    ]
    scalers = [
        scaler
        for scaler in ctx.index.mixed_precision.scalers
        if not is_off(scaler.call)
        # In a file that knows XLA, `enabled=device.type == "cuda"` is off there, and stays so.
        and not (ctx.index.guards.knows_xla() and _scales_on_cuda_only(ctx, scaler))
    ]
    if not found and not scalers:
        return
    # What belongs together changes together: bfloat16 needs no scaler, and a scaler is no use without float16.
    fix = ctx.fix(
        "Use bfloat16 autocast of the XLA device",
        Applicability.SAFE,
        "The computation stays in bfloat16.",
        Scope.MODULE,
    )
    answered = answer_for(ctx, fix, scalers)
    fixed = [
        not asks_unknown(ctx, autocast, answered) and _retarget(ctx, fix, autocast, bool(scalers))
        for autocast, *_ in found
    ]
    if scalers:
        fix.title = "Use bfloat16 autocast without gradient scaling" if any(fixed) else "Leave out the gradient scaler"
        fix.lower(
            Applicability.UNSAFE, "Gradients are no longer scaled: right for bfloat16, whose range is that of float32."
        )
    take_out(ctx, fix, scalers)
    name_xla(ctx, fix, [*(one.call for (one, *_), done in zip(found, fixed, strict=True) if done), *only_off(scalers)])
    read_in_float32(ctx, fix, [autocast for (autocast, *_), done in zip(found, fixed, strict=True) if done])
    if any(certainty is Certainty.LIKELY for *_, certainty in found):
        fix.lower(
            Applicability.UNSAFE,
            "Where a device type is a variable, it is likely, not certain, that it means the device.",
        )
    group = fix.build()
    for (autocast, message, severity, certainty), is_fixed in zip(found, fixed, strict=True):
        yield ctx.finding(autocast.call, message, group if is_fixed else None, severity=severity, certainty=certainty)
    for scaler in scalers:
        yield ctx.finding(scaler.call, SCALER, group)


def _held_by_timm(ctx: FileContext) -> Iterator[Finding]:
    """``loss_scaler = NativeScaler()``, which makes a scaler, runs the backward pass and steps the optimizer."""
    for call in ctx.index.calls_to("timm.utils.NativeScaler", "timm.utils.cuda.NativeScaler"):
        if not ctx.index.devices.is_guarded(call):
            message = f"`{ctx.text(call.func)}` of timm holds a gradient scaler. {SCALER}"
            advice = "Call `loss.backward()` and `optimizer.step()` in its place, with the clipping in between"
            yield ctx.finding(call, message, help=advice)


def _scales_on_cuda_only(ctx: FileContext, scaler: Scaler) -> bool:
    from tpulint_rules.precision._portable import scales_on_cuda_only

    return scales_on_cuda_only(ctx, scaler)


# -------------------------------------------------------------------- autocast


def _stays(ctx: FileContext, autocast: Autocast) -> bool:
    """Whether an autocast stands where CUDA is, is kept for older torch, or belongs to a product of GPUs."""
    if ctx.index.devices.is_guarded(autocast.call):
        return True
    return is_for_older_torch(ctx.index.tree, autocast.call) or ctx.index.callers.use_for_gpus(autocast.call)


def _handed_on(ctx: FileContext) -> Iterator[Finding]:
    """Places that pass on ``torch.cuda.amp.autocast`` itself, to be called somewhere else."""
    called = {autocast.callee for autocast in ctx.index.mixed_precision.autocasts}
    for node, name in ctx.index.references("torch.cuda.amp.autocast"):
        if name == "torch.cuda.amp.autocast" and node not in called and not _is_alias(ctx, node):
            message = f"`{name}` has no effect on an XLA device, which then computes in float32"
            advice = 'Pass `functools.partial(torch.autocast, "xla", dtype=torch.bfloat16)`'
            yield ctx.finding(node, message, _bound(ctx, node), help=advice)


def _is_alias(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a name is given that means autocast wherever it is read: a second value makes it a choice."""
    given = ctx.index.parent(node)
    if not isinstance(given, ast.Assign) or not all(isinstance(target, ast.Name) for target in given.targets):
        return False
    return all(len(ctx.index.names.bindings(target)) == 1 for target in given.targets if isinstance(target, ast.Name))


def _bound(ctx: FileContext, node: ast.expr) -> FixBuilder | None:
    """``functools.partial(torch.autocast, "xla", dtype=torch.bfloat16)``, which is called as it was."""
    if ctx.portable:
        from tpulint_rules.precision._portable import portable_autocast

        return portable_autocast(ctx, node)
    given = ctx.index.parent(node)
    targets = given.targets if isinstance(given, ast.Assign) else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name | ast.Attribute):
        return None
    name = last_name(targets[0])
    if any(call.args and last_name(call.func) == name for call in ctx.index.calls):
        return None  # `enabled` comes first for CUDA, and a device for all others
    reason = "What was computed in float16 is computed in bfloat16: more range, fewer digits."
    fix = ctx.fix("Bind autocast of the XLA device", Applicability.UNSAFE, reason, Scope.EXPRESSION)
    torch = fix.use("torch", at=node)
    bound = f'{fix.use("functools", at=node)}.partial({torch}.autocast, "xla", dtype={torch}.bfloat16)'
    fix.replace(node, bound)
    return fix


def _retarget(ctx: FileContext, fix: FixBuilder, autocast: Autocast, is_scaled: bool) -> bool:
    """Write the call for the XLA device; False when its arguments cannot be seen.

    ``is_scaled`` tells of a scaler that goes: what may be float16 must not be computed in it then, unscaled.
    """
    arguments = autocast.arguments
    if arguments is None:
        return False
    if dtype_of(ctx, arguments.get("dtype")) != BFLOAT16:
        fix.lower(
            Applicability.UNSAFE, "What was computed in float16 is computed in bfloat16: more range, fewer digits."
        )
    torch = fix.use("torch", at=autocast.call)
    dtype = arguments.get("dtype")
    added = "" if dtype is not None or is_off(autocast.call) else f"dtype={torch}.bfloat16"
    if dtype is not None and is_float16(ctx, dtype):
        fix.replace(dtype, f"{torch}.bfloat16")
    elif is_scaled and dtype is not None and not is_off(autocast.call) and may_be_float16(ctx, dtype):
        text = fix.text(dtype)
        fix.replace(dtype, f"{torch}.bfloat16 if {text} == {torch}.float16 else {text}")
    if not autocast.cuda_only:
        device = arguments["device_type"]
        if isinstance(device, ast.Constant) and isinstance(device.value, str):
            quote = '"' if ctx.text(device).endswith('"') else "'"
            if device.value != "xla":
                fix.replace(device, f"{quote}xla{quote}")
            if added:
                keyword = next((item for item in autocast.call.keywords if item.value is device), device)
                fix.insert(ctx.index.span(keyword).end, f", {added}")
        return True
    fix.replace(autocast.callee, f"{torch}.autocast")
    _name_arguments(ctx, fix, autocast, ", ".join(filter(None, ('"xla"', added))))
    return True


def _name_arguments(ctx: FileContext, fix: FixBuilder, autocast: Autocast, first: str) -> None:
    """Put the new first arguments in front and turn those passed by position into keywords: their order differs."""
    call = autocast.call
    behind = [*autocast.positional, *call.keywords]
    if not behind and autocast.callee is call.func:
        fix.replace(Span(ctx.index.span(call.func).end, ctx.index.span(call).end), f"({first})")
        return
    if not behind:
        fix.insert(ctx.index.span(autocast.callee).end, f", {first}")
        return
    spans = {piece.span.end: piece.span.start for piece in fix.pieces(call)}
    for number, name in enumerate(("enabled", "dtype", "cache_enabled")[: len(autocast.positional)]):
        end = ctx.index.span(autocast.positional[number]).end
        start = next(
            (start for stop, start in sorted(spans.items()) if stop >= end),
            ctx.index.span(autocast.positional[number]).start,
        )
        fix.insert(start, f"{first}, {name}=" if number == 0 else f"{name}=")
    if not autocast.positional:
        fix.insert(ctx.index.span(call.keywords[0]).start, f"{first}, ")
