"""The XLA runtime started in the process that is to start others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding
from tpulint.semantic.origins import origins

_DEVICES = frozenset({"torch_xla.device", "torch_xla.core.xla_model.xla_device"})
_START_THE_RUNTIME = _DEVICES | {
    f"{module}.{name}"
    for module, names in {
        "torch_xla": "devices real_devices device_count sync manual_seed",
        "torch_xla.core.xla_model": "is_master_ordinal get_local_ordinal get_ordinal xrt_world_size master_print "
        "mark_step rendezvous set_rng_state get_rng_state get_xla_supported_devices xla_real_devices save "
        "wait_device_ops mesh_reduce get_memory_info",
        "torch_xla.runtime": "world_size global_ordinal local_ordinal global_device_count local_device_count "
        "process_index addressable_device_count process_count is_bf16_supported global_runtime_device_count",
        "torch_xla.debug.profiler": "start_server",
    }.items()
    for name in names.split()
}


def check(ctx: FileContext) -> Iterator[Finding]:
    told: set[ast.AST] = set()
    for launch in ctx.index.launches.launches:
        if not launch.starts_processes:
            continue
        for node in ctx.index.launches.before(launch):
            if not isinstance(node, ast.Call) or node in told:
                continue
            name = ctx.index.qualified_name(node.func)
            if name in _START_THE_RUNTIME or _moves_to_device(ctx, node):
                told.add(node)
                started = f"`{name}`" if name in _START_THE_RUNTIME else "moving something to the XLA device"
                message = f"{started} starts the XLA runtime in the parent process; `{launch.launcher}` raises then"
                related = ((ctx.index.span(launch.call), "the processes are started here"),)
                yield ctx.finding(node, message, _fix(ctx, node) if name in _DEVICES else None, related=related)


def _moves_to_device(ctx: FileContext, call: ast.Call) -> bool:
    """``x.to(device)`` or ``torch.zeros(3, device=device)`` with a device that is known to be XLA."""
    devices = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "to":
        devices.extend(call.args[:1])
    return any(_is_xla(ctx, origin.node) for device in devices for origin in origins(ctx.index, device))


def _is_xla(ctx: FileContext, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        name = ctx.index.qualified_name(node.func)
        return name in _DEVICES or (name == "torch.device" and bool(node.args) and _is_xla(ctx, node.args[0]))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(":")[0] == "xla"


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``torch.device("xla")`` names the device without touching it."""
    if call.args or call.keywords:
        return None
    reason = 'Each process takes `torch.device("xla")` for its own device.'
    fix = ctx.fix('Replace with `torch.device("xla")`', Applicability.SAFE, reason)
    torch = fix.use("torch", at=call)
    fix.use("torch_xla", at=call)
    fix.replace(call, f'{torch}.device("xla")')
    if _is_compared(ctx, call):
        fix.lower(Applicability.UNSAFE, 'A device without a number does not equal the device "xla:0" of a tensor.')
    return fix


def _is_compared(ctx: FileContext, call: ast.Call) -> bool:
    statement = ctx.index.statement_of(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return False
    loads = ctx.index.names.loads(target.id, ctx.index.names.scope_of(target))
    return any(isinstance(ctx.index.parent(load), ast.Compare) for load in loads)
