"""Settings of NCCL, which carries no data between TPUs."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.text_files.context import TextContext
from tpulint_rules.environment._variables import unread_settings, unread_variables


def _told(name: str, value: str) -> str:
    if not name.startswith(("NCCL_", "TORCH_NCCL_")):
        return ""
    return f"`{name}` has no effect on a TPU: XLA's collectives do not go through NCCL"


def check(ctx: FileContext) -> Iterator[Finding]:
    yield from unread_variables(ctx, _told)


def check_text(ctx: TextContext) -> Iterator[Finding]:
    yield from unread_settings(ctx, _told)
