"""Pinned memory is memory that a GPU can read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.loaders import LOADER


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(LOADER):
        pinned = [
            item
            for item in call.keywords
            if item.arg == "pin_memory" and isinstance(item.value, ast.Constant) and item.value.value is True
        ]
        pinned += [item for item in call.keywords if item.arg == "pin_memory_device"]
        if not pinned:
            continue
        fix = ctx.fix(f"Remove `{pinned[0].arg}`", Applicability.SAFE, "Without a GPU nothing is pinned.")
        fix.delete_arguments(call, pinned)
        yield ctx.finding(pinned[0], f"`{pinned[0].arg}` only warns where there is no GPU: nothing is pinned", fix)
