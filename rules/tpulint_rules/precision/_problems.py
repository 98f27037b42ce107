"""What is wrong with the autocast calls and scalers of a GPU script."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.model import Certainty, Severity
from tpulint.semantic.cuda.mixed_precision import Autocast
from tpulint.semantic.values.origins import Origin, origins

FLOAT16 = ("torch.float16", "torch.half")
BFLOAT16 = "torch.bfloat16"
SCALER = "`GradScaler` stays enabled on an XLA device and waits for it in every step; bfloat16 needs no scaling"

CHOSEN = (
    "the option that chooses the dtype of autocast has float16 as its default, for which a TPU has no units and whose "
    "gradients need scaling; make bfloat16 the default"
)


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
    is_half = is_float16(ctx, arguments.get("dtype")) or is_chosen_float16(ctx, autocast)
    if device is None or not is_half or is_text(device, "cpu"):
        return None
    certainty = Certainty.CERTAIN if is_text(device, "xla") else Certainty.LIKELY
    return f"{name} computes in float16, for which a TPU has no units; use bfloat16", Severity.WARNING, certainty


def is_float16(ctx: FileContext, node: ast.expr | None) -> bool:
    """Whether a dtype is float16, be it by the only value of a variable or attribute: ``self.dtype = torch.float16``"""
    if node is None or dtype_of(ctx, node) in FLOAT16:
        return node is not None
    found = origins(ctx.index, node) if isinstance(node, ast.Name | ast.Attribute) else []
    return bool(found) and all(one.node is not node and _is_half(ctx, one) for one in found)


def _is_half(ctx: FileContext, origin: Origin) -> bool:
    return not origin.by_user and dtype_of(ctx, origin.node) in FLOAT16


def is_chosen_float16(ctx: FileContext, autocast: Autocast) -> bool:
    """Whether float16 is among the dtypes that branches choose from, for a device that is a value and scaled losses.

    ``dtype = torch.float16 if half else torch.bfloat16`` and ``autocast(args.device, dtype=dtype)``.
    """
    if not ctx.index.mixed_precision.scalers:
        return False  # the autocast of XLA is off for float16: what trains in float32 needs no scaler
    arguments = autocast.arguments or {}
    device, dtype = arguments.get("device_type"), arguments.get("dtype")
    if device is None or dtype is None or isinstance(device, ast.Constant) or not isinstance(dtype, ast.Name):
        return False
    return any(
        dtype_of(ctx, origin.node) in FLOAT16 and not _stands_in_for_bfloat16(ctx, origin.node)
        for origin in origins(ctx.index, dtype)
    )


def may_be_float16(ctx: FileContext, node: ast.expr | None) -> bool:
    """Whether nothing tells that a dtype which is looked up or computed is another one than float16."""
    if node is None:
        return False
    found = (origin.node for origin in origins(ctx.index, node))
    named = [dtype_of(ctx, each) or "" for each in found if not _stands_in_for_bfloat16(ctx, each)]
    return any(name in FLOAT16 or not name.startswith("torch.") for name in named)


def _stands_in_for_bfloat16(ctx: FileContext, node: ast.expr) -> bool:
    """``torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16``, of which a TPU takes the first."""
    choice = ctx.index.parent(node)
    if not isinstance(choice, ast.IfExp) or dtype_of(ctx, choice.body) != BFLOAT16:
        return False
    asked = ctx.index.calls_to("torch.cuda.is_bf16_supported")
    return any(ctx.index.tree.encloses(choice.test, call) for call in asked)


def is_float16_by_default(ctx: FileContext, node: ast.expr | None) -> bool:
    """Whether a dtype is chosen by an option of the program whose default is float16."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        node = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if isinstance(node, ast.Call) and len(node.args) == 2 and ctx.index.qualified_name(node.args[0]) == "torch":
        chosen = node.args[1]  # getattr(torch, args.dtype)
    elif isinstance(node, ast.Subscript):
        chosen = node.slice
    else:
        return False
    if not isinstance(chosen, ast.Attribute):
        return False
    for call, _ in ctx.index.method_calls("add_argument"):
        names = {item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)}
        if chosen.attr in {name.lstrip("-").replace("-", "_") for name in names}:
            default = next((item.value for item in call.keywords if item.arg == "default"), None)
            return isinstance(default, ast.Constant) and default.value in ("float16", "half", "fp16", "16")
    return False


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
