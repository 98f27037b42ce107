"""What a device loader does not pass on from the loader inside of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding

_DEVICE_LOADER = "torch_xla.distributed.parallel_loader.MpDeviceLoader"
_OF_THE_LOADER = frozenset({
    "dataset", "sampler", "batch_sampler", "batch_size", "num_workers", "drop_last", "collate_fn", "pin_memory",
    "generator", "timeout", "worker_init_fn", "persistent_workers", "prefetch_factor",
})  # fmt: skip


def check(ctx: FileContext) -> Iterator[Finding]:
    if next(ctx.index.references(_DEVICE_LOADER), None) is None:
        return
    for node in ctx.index.tree.attributes:
        if node.attr not in _OF_THE_LOADER or not isinstance(node.value, ast.Name):
            continue
        wrap = _wrapped_by(ctx, node.value)
        if wrap is not None and isinstance(node.ctx, ast.Load):
            message = f"`MpDeviceLoader` has no `{node.attr}`: AttributeError; ask the loader inside of it"
            yield ctx.finding(node, message, _fix(ctx, node, wrap))


def _wrapped_by(ctx: FileContext, name: ast.Name) -> ast.Call | None:
    """The call of MpDeviceLoader that a variable certainly holds."""
    bindings = ctx.index.flow.reaching(name)
    if len(bindings) == 1 and bindings[0].kind == "parameter" and isinstance(bindings[0].statement, ast.FunctionDef):
        passed = ctx.index.definitions.arguments.of(bindings[0].statement, name.id)
        holders = [_wrapped_by(ctx, item) if isinstance(item, ast.Name) else None for item in passed]
        return holders[0] if holders and None not in holders else None
    if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path:
        return None
    value = bindings[0].value
    return value if isinstance(value, ast.Call) and ctx.index.qualified_name(value.func) == _DEVICE_LOADER else None


def _fix(ctx: FileContext, node: ast.Attribute, wrap: ast.Call) -> FixBuilder | None:
    """Ask the inner loader, where a variable of the same scope still holds it."""
    inner = next((keyword.value for keyword in wrap.keywords if keyword.arg == "loader"), None)
    inner = wrap.args[0] if wrap.args else inner
    names = ctx.index.names
    if not isinstance(inner, ast.Name):
        return None
    here, there = names.find(inner.id, names.scope_of(node)), names.find(inner.id, names.scope_of(wrap))
    if here is None or there is None or here[0] is not there[0] or len(here[1]) != 1:
        return None
    fix = ctx.fix(f"Ask `{inner.id}`", Applicability.SAFE, "It is the loader inside of the device loader.")
    fix.replace(node.value, inner.id)
    return fix
