"""A bar in the terminal that never waits for the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpulint_runtime.loop.callbacks import Callback

if TYPE_CHECKING:
    from tpulint_runtime.loop.history import Record
    from tpulint_runtime.loop.loop import Loop


class Progress(Callback):
    """A callback that shows how far the training is, and the values it has last logged.

    console
        A ``rich.console.Console``; by default that of standard error.

    It shows numbers the loop has read anyway, and so values of the last interval of ``log_every`` steps; steps count as
    done when they are handed to the device. Only the first process shows something. Needs rich.
    """

    def __init__(self, console: Any = None) -> None:
        self._console = console
        self._bar: Any = None
        self._task: Any = None
        self._loop: Loop | None = None
        self._shown: dict[str, float] = {}

    def on_train_begin(self, loop: Loop) -> None:
        if loop.backend.place().rank:
            return
        from rich import progress
        from rich.console import Console

        self._loop = loop
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[values]}"),
            console=self._console or Console(stderr=True),
        )
        self._task = self._bar.add_task("training", total=loop.planned_steps, completed=loop.steps, values="")
        self._bar.start()

    def on_epoch_begin(self) -> None:
        if self._bar and self._loop:
            self._bar.update(self._task, description=f"epoch {self._loop.epoch}")

    def on_step_end(self) -> None:
        if self._bar:
            self._bar.advance(self._task)

    def on_log(self, record: Record) -> None:
        self._show(dict(record.values))

    def on_evaluation_end(self, record: Record) -> None:
        self._show({f"evaluated {name}": value for name, value in record.values.items()})

    def on_train_end(self) -> None:
        if self._bar:
            self._bar.stop()
            self._bar = None

    def _show(self, values: dict[str, float]) -> None:
        if self._bar:
            self._shown.update(values)
            text = "  ".join(f"{name} {value:.4g}" for name, value in self._shown.items())
            self._bar.update(self._task, values=text)
