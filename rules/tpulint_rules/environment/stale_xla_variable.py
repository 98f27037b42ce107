"""Environment variables that torch_xla reads no more, or whose values it does not know any more."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Severity
from tpulint.text_files.context import TextContext
from tpulint_rules.environment._variables import unset, without

_UNREAD = "No release of torch_xla from 2.1 on reads it."
_TOLD_BY = "torch_xla does not read it, but a program may tell by it whether there is a TPU."
_GPU_VALUES = ("GPU", "CUDA", "ROCM")
_GPU_REASON = "It raises as it is; on which device the program is to run is yours to say."


def _told(name: str, value: str, version: tuple[int, ...]) -> str:
    if name.startswith("XRT_"):
        return f"`{name}` is of XRT, the runtime before torch_xla 2.1: nothing reads it; PJRT finds a TPU by itself"
    if name in ("XLA_USE_FP16", "XLA_DOWNCAST_FP16") and version >= (2, 6):
        return f"`{name}` has no effect any more, torch_xla only warns of it: use `torch.autocast` with bfloat16"
    if name == "GPU_NUM_DEVICES" and version >= (2, 9):
        return f"`{name}` is of torch_xla on GPUs, which went with 2.9: nothing reads it"
    if name == "PJRT_DEVICE" and version >= (2, 9) and value.strip("\"'").upper() in _GPU_VALUES:
        return f"torch_xla does not run on GPUs any more: `PJRT_DEVICE={value}` raises `No PjRtPlugin registered`"
    return ""


def _degree(name: str) -> tuple[Applicability, str]:
    return (Applicability.UNSAFE, _TOLD_BY) if name.startswith("XRT_") else (Applicability.SAFE, _UNREAD)


def check(ctx: FileContext) -> Iterator[Finding]:
    for one in ctx.index.environment.sets:
        message = _told(one.name, one.text, ctx.target.version)
        if not message:
            continue
        if one.name == "PJRT_DEVICE":
            fix = ctx.fix("Run on the TPU", Applicability.UNSAFE, _GPU_REASON)
            fix.replace(one.value, '"TPU"')
            yield ctx.finding(one.node, message, fix, severity=Severity.ERROR)
            continue
        yield ctx.finding(one.node, message, unset(ctx, one, *_degree(one.name)))


def check_text(ctx: TextContext) -> Iterator[Finding]:
    for setting in ctx.index.settings:
        message = _told(setting.name, setting.value, ctx.target.version)
        if not message:
            continue
        if setting.name == "PJRT_DEVICE":
            fix = ctx.fix("Run on the TPU", Applicability.UNSAFE, _GPU_REASON)
            fix.replace(setting.value_span, "TPU")
            yield ctx.finding(setting.span, message, fix, severity=Severity.ERROR)
        else:
            yield ctx.finding(setting.span, message, without(ctx, setting, *_degree(setting.name)))
