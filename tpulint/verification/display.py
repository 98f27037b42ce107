"""Shows on the terminal how far a run is."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from tpulint.verification.numbers import count
from tpulint.verification.records import Tally

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class Display:
    """One bar per run, on standard error."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"),
            TimeElapsedColumn(),
        )  # fmt: skip
        self._bar: Bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task: TaskID | None = None

    def __enter__(self) -> Display:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def announce(self, what: str, max_steps: int) -> Callable[[Tally], None]:
        """A run begins."""
        if self._task is not None:
            self._bar.update(self._task, visible=False)
        # Without a limit nobody knows how many steps there will be: the bar only moves.
        task = self._task = self._bar.add_task(what, total=max_steps or None, told="starting")

        def show(tally: Tally) -> None:
            told = f"step {tally.steps}"
            if tally.compiles:
                told += f", {count(tally.compiles, 'compilation')}"
            if tally.host_syncs:
                told += f", {count(tally.host_syncs, 'host sync')}"
            if tally.has_ended:
                told = "reading values"
            self._bar.update(task, completed=tally.steps, told=told if tally.steps else "starting")

        return show
