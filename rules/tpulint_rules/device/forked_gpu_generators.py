"""Random generators of GPUs, kept for the length of a block."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.values import is_true


def check(ctx: FileContext) -> Iterator[Finding]:
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
