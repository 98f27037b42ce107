"""How work grows with what it is given, counted instead of timed: a busy machine changes no count."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def growth(work: Callable[[int], object], small: int, large: int) -> float:
    """How many times the function calls, of Python and of C, ``work(large)`` needs that ``work(small)`` needs."""
    work(small)  # what is loaded once is not counted
    return _calls(work, large) / _calls(work, small)


def _calls(work: Callable[[int], object], size: int) -> int:
    count = 0

    def called(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work(size)
    finally:
        sys.setprofile(before)
    return count
