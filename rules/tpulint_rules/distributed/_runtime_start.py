"""What starts the XLA runtime of a process, and how to name the device without doing so."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.values.origins import origins

_RUNTIME = "tpulint_runtime.backend"
DEVICES = frozenset({"torch_xla.device", "torch_xla.core.xla_model.xla_device", f"{_RUNTIME}.device"})
"""Calls that give the device of the process."""
_SEEDS = frozenset({f"{_RUNTIME}.manual_seed", "torch_xla.manual_seed", "torch_xla.core.xla_model.set_rng_state"})
_STARTERS = {
    "torch_xla": "devices real_devices device_count sync manual_seed",
    "torch_xla.core.xla_model": "is_master_ordinal get_local_ordinal get_ordinal xrt_world_size master_print mark_step "
    "rendezvous set_rng_state get_rng_state get_xla_supported_devices xla_real_devices save wait_device_ops "
    "mesh_reduce get_memory_info",
    "torch_xla.runtime": "world_size global_ordinal local_ordinal global_device_count local_device_count process_index "
    "addressable_device_count process_count is_bf16_supported global_runtime_device_count",
    "torch_xla.debug.profiler": "start_server",
    _RUNTIME: "device sync manual_seed save world_size",
}
_START_THE_RUNTIME = DEVICES | {f"{module}.{name}" for module, names in _STARTERS.items() for name in names.split()}


def starts_runtime(ctx: FileContext, call: ast.Call) -> str | None:
    """What about a call starts the runtime, in words for a message; None when nothing does."""
    name = ctx.index.qualified_name(call.func)
    if name in _START_THE_RUNTIME:
        return f"`{name}`"
    return "moving something to the XLA device" if _moves_to_device(ctx, call) else None


def _moves_to_device(ctx: FileContext, call: ast.Call) -> bool:
    """``x.to(device)`` or ``torch.zeros(3, device=device)`` with a device that is known to be XLA."""
    devices = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "to":
        devices.extend(call.args[:1])
    return any(_is_xla(ctx, origin.node) for device in devices for origin in origins(ctx.index, device))


def _is_xla(ctx: FileContext, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        name = ctx.index.qualified_name(node.func)
        return name in DEVICES or (name == "torch.device" and bool(node.args) and _is_xla(ctx, node.args[0]))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(":")[0] == "xla"


def unseeded(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """Take out a seed that the parent gives to a device of its own: started processes draw from other generators."""
    statement = ctx.index.statement_of(call)
    if ctx.index.qualified_name(call.func) not in _SEEDS or not isinstance(statement, ast.Expr):
        return None
    if statement.value is not call or ctx.index.launches.is_before_any(call):
        return None  # it runs in every process too
    reason = "It seeds a device of the parent; a started process has a generator of its own."
    fix = ctx.fix("Remove the line", Applicability.SAFE, reason, Scope.STATEMENT)
    fix.delete(statement)
    return fix


def named_only(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``torch.device("xla")`` for ``torch_xla.device()``: names the device without touching it."""
    if ctx.index.qualified_name(call.func) not in DEVICES or call.args or call.keywords:
        return None
    statement = ctx.index.statement_of(call)
    if isinstance(statement, ast.Expr) and statement.value is call:
        fix = ctx.fix("Remove the line", Applicability.SAFE, "Nobody reads the device.", Scope.STATEMENT)
        fix.delete(statement)
        return fix
    reason = "Each process takes a device without a number for its own."
    fix = ctx.fix('Replace with `torch.device("xla")`', Applicability.SAFE, reason)
    fix.replace(call, fix.emit.named_device(call))
    if _is_compared(ctx, statement, call):
        fix.lower(Applicability.UNSAFE, 'A device without a number does not equal the device "xla:0" of a tensor.')
    return fix


def _is_compared(ctx: FileContext, statement: ast.stmt, call: ast.Call) -> bool:
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return False
    loads = ctx.index.names.loads(target.id, ctx.index.names.scope_of(target))
    return any(isinstance(ctx.index.parent(load), ast.Compare) for load in loads)
