"""Settings that cannot be meant: told where they are given, with their name and what to give instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def check_count(name: str, given: Any, least: int) -> None:
    """Raises TypeError for what is no whole number, ValueError for one below ``least``."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{name} is {given!r}: give a whole number")
    if given < least:
        raise ValueError(f"{name} is {given}: give at least {least}")


def check_loader(name: str, given: Any) -> None:
    """Raises TypeError for what no batches can be taken from."""
    # What has __getitem__ alone can be iterated, too.
    if not isinstance(given, Iterable) and not hasattr(given, "__getitem__"):
        raise TypeError(f"{name} is {kind_of(given)}: give what batches can be taken from, such as a DataLoader")


def kind_of(given: Any) -> str:
    """What something is, in words: ``a float``, ``the class SGD``."""
    return f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"
