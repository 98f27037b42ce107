"""Autocast wants the name of a device type."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind

_AUTOCAST = ("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*_AUTOCAST):
        given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "device_type")]
        if not given or not _is_device(ctx, given[0]):
            continue
        fix = ctx.fix("Give the type of the device", Applicability.SAFE, "The call raised before.")
        fix.append(given[0], ".type")
        text = ctx.text(given[0])
        yield ctx.finding(given[0], f"`autocast` raises for a device such as `{text}`: it wants `{text}.type`", fix)


def _is_device(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression is surely a device object, and no text."""
    if isinstance(node, ast.Attribute) and node.attr == "device":
        return ctx.index.kind(node.value) is Kind.TENSOR
    value = ctx.index.value(node)
    return value.kind is Kind.DEVICE and value.certain
