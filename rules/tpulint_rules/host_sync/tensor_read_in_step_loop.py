"""Placeholder."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding


def check(ctx: FileContext) -> Iterator[Finding]:
    """Nothing yet."""
    yield from ()
