"""Saving tensors that live on an XLA device fetches them one by one and ties the file to torch_xla."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import FUNCTIONS, Binding, Kind

_DISTRIBUTED = ("torch.distributed", "torch.multiprocessing", "torch_xla.launch", "torch_xla.distributed")


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.moves.has_device:
        return
    for call in ctx.index.calls_to("torch.save"):
        saved = call.args[0] if call.args else next((item.value for item in call.keywords if item.arg == "obj"), None)
        if saved is None or isinstance(saved, ast.Starred):
            continue
        if _is_module(ctx, saved):
            message = (
                "`torch.save` of a whole model ties the file to this device and to torch_xla; save its `state_dict()`"
            )
            yield ctx.finding(
                call, message, help="Save `model.state_dict()` with `xm.save` and load it with `load_state_dict`"
            )
        elif _holds_state(ctx, saved, 0):
            fix = ctx.fix(
                "Save with `xm.save`", Applicability.SAFE, "It writes the same values, as tensors of the host."
            )
            fix.emit.save(call)
            if len(call.args) + len(call.keywords) != 2 or any(item.arg not in ("obj", "f") for item in call.keywords):
                fix.give_up()
            if not ctx.portable and next(ctx.index.references(*_DISTRIBUTED), None) is not None:
                fix.lower(
                    Applicability.UNSAFE,
                    "`xm.save` writes in one process of each host only, and all of them should call it.",
                )
            message = (
                "`torch.save` fetches tensors from an XLA device one by one, and the file cannot be loaded without "
                "torch_xla; `xm.save` fetches them at once and writes tensors of the host"
            )
            yield ctx.finding(call, message, fix)


def _is_module(ctx: FileContext, node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ctx.index.kind(node) is Kind.MODULE


def _holds_state(ctx: FileContext, node: ast.expr, depth: int) -> bool:
    """Whether an expression is or contains the state of a module or optimizer, as it is on the device."""
    if depth > 4:
        return False
    if isinstance(node, ast.Call):
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr != "state_dict":
            name = ctx.index.qualified_name(func)
            if name in ("copy.deepcopy", "copy.copy"):
                return any(_holds_state(ctx, item, depth + 1) for item in node.args[:1])
            return name == "builtins.dict" and any(_holds_state(ctx, item.value, depth + 1) for item in node.keywords)
        if ctx.index.kind(func.value) in (Kind.SCHEDULER, Kind.SCALER, Kind.LOADER) or _is_host_state(func.value):
            return False
        return not any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "cpu"
            for part in ctx.index.tree.inside(node)
        )
    if isinstance(node, ast.Dict):
        return any(_holds_state(ctx, value, depth + 1) for value in node.values)
    if isinstance(node, ast.List | ast.Tuple):
        return any(_holds_state(ctx, value, depth + 1) for value in node.elts)
    if isinstance(node, ast.IfExp):
        return _holds_state(ctx, node.body, depth + 1) or _holds_state(ctx, node.orelse, depth + 1)
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        return any(
            b.kind == "assign" and not b.path and b.value is not None and _holds_state(ctx, b.value, depth + 1)
            for b in bindings
        ) or any(_holds_state(ctx, item, depth + 1) for b in bindings for item in _given(ctx, b))
    return False


def _given(ctx: FileContext, binding: Binding) -> list[ast.expr]:
    """What calls of this file pass for a parameter: ``save_checkpoint({"model": model.state_dict()}, path)``."""
    if binding.kind != "parameter" or not isinstance(binding.statement, FUNCTIONS):
        return []
    return ctx.index.definitions.arguments_for(binding.statement, binding.name)


def _is_host_state(node: ast.expr) -> bool:
    """Whether a name says that the object keeps no tensors of the device; what it is may be unknown."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return any(word in name.lower() for word in ("sched", "scaler", "loader", "sampler"))
