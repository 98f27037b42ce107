"""Random generators of GPUs, kept for the length of a block or for a second run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.values.value import is_true

_KEEPS = "torch.utils.checkpoint.get_device_states"
_KNOWS_XLA = r"xla_model|\bxm\.[gs]et_rng_state"
_INSTEAD = (
    "Keep `xm.get_rng_state()` there, set it in front of the second run, and set what it was before behind that run "
    "(`import torch_xla.core.xla_model as xm`)"
)


def check(ctx: FileContext) -> Iterator[Finding]:
    yield from _forked(ctx)
    for call in () if ctx.index.mentions(_KNOWS_XLA) else ctx.index.calls_to(_KEEPS):
        message = (
            "`get_device_states` keeps the generators of GPUs alone: what is run again on an XLA device draws other "
            "random numbers, dropout among them, and its gradients are those of another run"
        )
        yield ctx.finding(call, message, help=_INSTEAD)


def _forked(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to("torch.random.fork_rng"):
        given = {item.arg: item.value for item in call.keywords}
        devices = given.get("devices", call.args[0] if call.args else None)
        if not isinstance(devices, ast.List | ast.Tuple) or not devices.elts or _is_off(given):
            continue
        if ctx.index.devices.is_guarded(call) or _is_for_others(given):
            continue
        reason = "The random numbers of the device go on behind the block."
        fix = ctx.fix("Fork the generator of the CPU alone", Applicability.UNSAFE, reason)
        text = f"{ctx.text(devices)} if {fix.emit.cuda_question(call)} else []" if ctx.portable else "[]"
        fix.replace(devices, text)
        message = "`fork_rng` asks for generators of GPUs, and raises where there are none"
        yield ctx.finding(devices, message, fix)


def _is_off(given: dict[str | None, ast.expr]) -> bool:
    """Whether forking is, or may be, switched off."""
    enabled = given.get("enabled")
    return enabled is not None and not is_true(enabled)


def _is_for_others(given: dict[str | None, ast.expr]) -> bool:
    """Whether the devices are, or may be, no GPUs of CUDA: ``device_type="mps"``."""
    kind = given.get("device_type")
    return kind is not None and not (isinstance(kind, ast.Constant) and kind.value == "cuda")
