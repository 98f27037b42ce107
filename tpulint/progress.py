"""A bar on the terminal for runs that take a while."""

from __future__ import annotations

import time
from types import TracebackType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_PATIENCE = 1.0
"""Seconds of work before the bar appears: a bar that flashes up tells nothing, and rich is not imported for it."""


class Progress:
    """Shows how far a run is, on standard error."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, total: int) -> None:
        """Tell that so many files are done."""
        if self._bar is None or self._task is None:
            if time.monotonic() - self._started < _PATIENCE or done == total:
                return
            self._bar, self._task = _start(total)
        self._bar.update(self._task, completed=done)


def _start(total: int) -> tuple[Bar, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("Linting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task("files", total=total)
