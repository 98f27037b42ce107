"""A choice among GPUs that a TPU does not know of."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.text_files import Setting
from tpulint.text_files.context import TextContext, TextFix
from tpulint_rules.environment._runs_beside import RunsBeside
from tpulint_rules.environment._variables import unread_settings, unread_variables

_BESIDE = (
    "`CUDA_VISIBLE_DEVICES` has no effect on a TPU: of the runs that are started side by side the first takes all "
    "chips, and the others fail; `TPU_VISIBLE_CHIPS` gives each its own"
)
_NAMES = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


def _told(name: str, value: str) -> str:
    if name not in _NAMES:
        return ""
    if value.strip("\"'") in ("", "-1", "none", "void", "NoDevFiles"):
        return f"`{name}` hides no TPU: the program would take it; `PJRT_DEVICE=CPU` keeps it on the CPU"
    return f"`{name}` has no effect on a TPU: every process takes all chips; `TPU_VISIBLE_CHIPS` chooses among them"


def check(ctx: FileContext) -> Iterator[Finding]:
    yield from unread_variables(ctx, _told)


def check_text(ctx: TextContext) -> Iterator[Finding]:
    runs = RunsBeside(ctx)

    def one_chip(setting: Setting) -> tuple[str, TextFix | None] | None:
        return (_BESIDE, runs.one_chip_each(setting)) if runs.of(setting) else None

    yield from unread_settings(ctx, _told, one_chip)
