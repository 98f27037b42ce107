"""A device loader moves the next batches while a step runs; ``.to(device)`` in the loop moves each when it begins."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind
from tpulint.semantic.syntax.torch_facts import ITERABLE_WRAPPERS

_MESSAGE = "each batch is moved to the device when its step begins; a device loader moves the next ones meanwhile"
_REASON = (
    "The loader gives its length and its batches only, sets a step boundary itself, and ends an epoch early, without "
    "an error, when the dataset raises."
)


def check(ctx: FileContext) -> Iterator[Finding]:
    for loop in ctx.index.step_loops:
        node = loop.node
        if not isinstance(node, ast.For) or node.iter in loop.boundaries:
            continue
        loader = _loader(ctx, node.iter)
        targets = {item.id for item in ast.walk(node.target) if isinstance(item, ast.Name)}
        moves = [move for statement in node.body for move in _moves(ctx, statement, targets)]
        if loader is not None and moves:
            yield ctx.finding(loader, _MESSAGE, _wrapped(ctx, loader, moves[0]))


def _loader(ctx: FileContext, node: ast.expr) -> ast.expr | None:
    """The loader that is iterated, ``enumerate`` and a progress bar taken off."""
    while isinstance(node, ast.Call) and node.args and ctx.index.qualified_name(node.func) in ITERABLE_WRAPPERS:
        node = node.args[0]
    is_made_elsewhere = isinstance(node, ast.Name | ast.Attribute)
    return node if is_made_elsewhere and ctx.index.kind(node) is Kind.LOADER else None


def _moves(ctx: FileContext, statement: ast.stmt, targets: set[str]) -> Iterator[ast.expr]:
    """Devices that parts of the batch are moved to: ``x, y = x.to(device), y.to(device)``."""
    if not isinstance(statement, ast.Assign):
        return
    values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    for value in values:
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "to"
            and isinstance(value.func.value, ast.Name)
            and value.func.value.id in targets
            and value.args
            and ctx.index.xla_devices.is_device(value.args[0])
        ):
            yield value.args[0]


def _wrapped(ctx: FileContext, loader: ast.expr, device: ast.expr) -> FixBuilder:
    fix = ctx.fix("Move the batches ahead of time", Applicability.UNSAFE, _REASON)
    module = fix.use("torch_xla.distributed.parallel_loader", alias="pl", at=loader)
    fix.insert(ctx.index.span(loader).start, f"{module}.MpDeviceLoader(")
    fix.insert(ctx.index.span(loader).end, f", {ctx.text(device)})")
    return fix
