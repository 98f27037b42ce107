"""Formatting a value of the device in every step, in front of the step boundary."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic import How
from tpulint_rules.host_sync.tensor_read_in_step_loop import step_reads


def check(ctx: FileContext) -> Iterator[Finding]:
    """Reads by ``print``, f-strings, logging, progress bars and writers."""
    yield from step_reads(ctx, (How.FORMAT, How.PARTS))
