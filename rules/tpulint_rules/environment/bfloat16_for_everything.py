"""A variable that turns every float32 tensor into bfloat16, weights and optimizer state included."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.text_files.context import TextContext

_TEXTS = {
    "XLA_USE_BF16": "every float32 and float64 tensor is bfloat16, the weights and the optimizer's state too",
    "XLA_DOWNCAST_BF16": "every float32 tensor is bfloat16 and every float64 tensor float32, the weights too",
    "XLA_USE_32BIT_LONG": "every int64 tensor is int32",
}
_OFF = ("0", "", "false", "False", "str(0)", "str(False)")


def _told(name: str, value: str) -> str:
    if name not in _TEXTS or value.strip("\"'") in _OFF:
        return ""
    return f"`{name}` is deprecated and goes far: {_TEXTS[name]}"


def check(ctx: FileContext) -> Iterator[Finding]:
    for one in ctx.index.environment.sets:
        message = _told(one.name, one.text)
        if message:
            yield ctx.finding(one.node, message)


def check_text(ctx: TextContext) -> Iterator[Finding]:
    for setting in ctx.index.settings:
        message = _told(setting.name, setting.value)
        if message:
            yield ctx.finding(setting.span, message)
