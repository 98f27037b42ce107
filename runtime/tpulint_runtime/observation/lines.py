"""Charges what XLA does to the line of the script that made it do so.

The innermost frame of the user's own code is followed with a trace function. Whatever the counters gained when the next
line begins, the line before has caused: by an operation of its own, or by a library that it called.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

from tpulint_runtime.observation import imports
from tpulint_runtime.observation.counters import Counters, Work
from tpulint_runtime.observation.coverage import Coverage
from tpulint_runtime.ownership import Line, Ownership

_CALLERS_KEPT = 3


Charge = Callable[[Line | None, Work, bool], None]
"""Told what a line has caused, and whether a step boundary asked for it."""


class LineTracer:
    """Follows one thread: that of the script, or the one in which a launched function runs."""

    def __init__(
        self, ownership: Ownership, counters: Counters, charge: Charge, on_xla: Callable[[], bool],
        coverage: Coverage | None = None,
    ) -> None:  # fmt: skip
        self._ownership = ownership
        self._coverage = coverage
        self._counters = counters
        self._charge = charge
        self._on_xla = on_xla
        """Called until it says that torch_xla was found, loaded and prepared."""
        self._is_prepared = False
        self.here: Line | None = None
        """The line that runs, in the user's code."""
        self._callers: dict[CodeType, list[Line]] = {}
        """Lines of the user's code that led into a function of a library."""
        self.chain = -1
        """The calls that led to the line that runs, as ``Coverage`` numbers them."""
        self._followers: dict[int, Any] = {}

    def aim(self, ownership: Ownership) -> None:
        """Follow another script's code."""
        self._ownership = ownership
        self.here = None
        self._callers = {}

    def start(self) -> None:
        """Begin, in this thread and in those to come."""
        threading.settrace(self._enter_in_other_thread)
        sys.settrace(self._enter)
        imports.pause(lambda path: self._ownership.find(path), self._follow_on)

    def stop(self) -> None:
        """Stop, in this thread."""
        imports.restore()
        sys.settrace(None)
        nothing: Any = None
        threading.settrace(nothing)

    def settle(self) -> None:
        """Charge what happened until now to the line that runs."""
        work = self._counters.since_last()
        if work is not None and not work.is_nothing:
            self._charge(self.here, work, False)

    def callers_of(self, path: str, row: int) -> list[Line]:
        """Lines of the user's code that called the library function which stands at a place."""
        best: tuple[int, list[Line]] | None = None
        for code, lines in list(self._callers.items()):
            if code.co_filename == path and code.co_firstlineno <= row:
                last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
                if row <= last and (best is None or last - code.co_firstlineno < best[0]):
                    best = last - code.co_firstlineno, lines
        return best[1] if best is not None else []

    def _follow_on(self) -> None:
        """A library has been imported."""
        if not self._is_prepared:
            self._is_prepared = self._on_xla()
        sys.settrace(self._enter)

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """A function is called."""
        if not self._is_prepared:
            self._is_prepared = self._on_xla()
        code = frame.f_code
        path = self._ownership.path_of(code)
        if not path:
            if self.here is not None:
                lines = self._callers.get(code)
                if lines is None:
                    self._callers[code] = [self.here]
                elif len(lines) < _CALLERS_KEPT and self.here not in lines:
                    lines.append(self.here)
            return None
        self.settle()
        self.here = Line(path, frame.f_lineno, code.co_qualname)
        if self._coverage is not None:
            return self._follower(self._coverage, self._coverage.chain_of(frame.f_back))
        return self._follow

    def _follower(self, coverage: Coverage, chain: int) -> Any:
        """Follows a function that was reached by certain calls, and notes its lines."""
        known = self._followers.get(chain)
        if known is not None:
            return known

        def follow(frame: FrameType, event: str, arg: Any) -> Any:
            self._follow(frame, event, arg)
            if event == "line":
                self.chain = chain
                coverage.note(self._ownership.path_of(frame.f_code), frame.f_lineno, chain)
            elif event == "return":
                above = self._ownership.nearest_frame(frame.f_back)
                self.chain = coverage.chain_of(above.f_back) if above is not None else -1
            return follow

        self.chain = chain
        self._followers[chain] = follow
        return follow

    def _follow(self, frame: FrameType, event: str, arg: Any) -> Any:
        """A line of a user's function begins, or the function is left."""
        self.settle()
        if event == "return":
            self.here = self._ownership.nearest(frame.f_back)
        elif event == "line":
            code = frame.f_code
            self.here = Line(self._ownership.path_of(code), frame.f_lineno, code.co_qualname)
        return self._follow

    def _enter_in_other_thread(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Threads that load data or write logs are not followed: what they run would take the charges of others."""
        code = frame.f_code
        if code.co_name == "_thread_fn" and "torch_xla" in code.co_filename:
            sys.settrace(self._enter)
        return None


def rows_of(lines: Iterable[Line]) -> list[list[Any]]:
    """Lines as JSON can hold them."""
    return [list(line) for line in lines]
