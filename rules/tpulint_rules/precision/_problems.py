"""What is wrong with the autocast calls and scalers of a GPU script."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.model import Certainty, Severity
from tpulint.semantic.mixed_precision import Autocast

FLOAT16 = ("torch.float16", "torch.half")
BFLOAT16 = "torch.bfloat16"
SCALER = "`GradScaler` stays enabled on an XLA device and waits for it in every step; bfloat16 needs no scaling"


def problem_of(ctx: FileContext, autocast: Autocast) -> tuple[str, Severity, Certainty] | None:
    """What is wrong with an autocast call; None when nothing is or it cannot be known."""
    arguments = autocast.arguments or {}
    name = f"`{ctx.index.qualified_name(autocast.callee)}`"
    device = arguments.get("device_type")
    dtype = dtype_of(ctx, arguments.get("dtype"))
    if autocast.cuda_only or is_text(device, "cuda"):
        if not autocast.cuda_only:
            name = f"{name[:-1]}({ctx.text(device)})`" if device is not None else name
        if is_off(autocast.call):
            return f"{name} does not switch off the autocast of an XLA device", Severity.WARNING, Certainty.CERTAIN
        if dtype == BFLOAT16:
            return f"{name} with bfloat16 raises where there is no GPU", Severity.ERROR, Certainty.CERTAIN
        return (
            f"{name} has no effect on an XLA device, which then computes in float32",
            Severity.WARNING,
            Certainty.CERTAIN,
        )
    if device is None or dtype not in FLOAT16 or is_text(device, "cpu"):
        return None
    certainty = Certainty.CERTAIN if is_text(device, "xla") else Certainty.LIKELY
    return f"{name} computes in float16, for which a TPU has no units; use bfloat16", Severity.WARNING, certainty


def dtype_of(ctx: FileContext, node: ast.expr | None) -> str | None:
    """Qualified name of a dtype."""
    return None if node is None else ctx.index.qualified_name(node)


def is_text(node: ast.expr | None, text: str) -> bool:
    """Whether an expression is this name of a device, with or without a number."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(":", 1)[0] == text


def is_off(call: ast.Call) -> bool:
    """Whether a call says ``enabled=False``."""
    return any(
        item.arg == "enabled" and isinstance(item.value, ast.Constant) and item.value.value is False
        for item in call.keywords
    )
