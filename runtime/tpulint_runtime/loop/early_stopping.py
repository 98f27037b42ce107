"""Ends a training that gets no better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from tpulint_runtime.loop.callbacks import Callback
from tpulint_runtime.settings import check_number, checked_count

if TYPE_CHECKING:
    from tpulint_runtime.loop.history import Record
    from tpulint_runtime.loop.loop import Loop


class EarlyStopping(Callback):
    """A callback that stops the loop when a value of its evaluations gets no better.

    value
        Its name, such as ``loss``.
    better
        Whether ``lower`` or ``higher`` values are better. NaN never is.
    patience
        Evaluations in a row without improvement after which training stops, at least 1.
    least
        What counts as an improvement, in units of the value: more than so much better than the best so far.

    It looks at numbers that were read anyway, and is the same in all processes, as evaluations are. It stops the loop,
    and puts no earlier weights back: those are in checkpoints.

    Raises TypeError for what is no name or no number, ValueError for another ``better`` and numbers that are too small,
    and KeyError, at the first evaluation,
    for a name that evaluations do not have.
    """

    def __init__(
        self,
        value: str = "loss",
        *,
        better: Literal["lower", "higher"] = "lower",
        patience: int = 3,
        least: float = 0.0,
    ) -> None:
        if better not in ("lower", "higher"):
            raise ValueError(f"better is {better!r}, not lower or higher")
        if not isinstance(value, str):
            raise TypeError(f"value is {value!r}: give the name of a value")
        check_number("least", least)
        if not least >= 0:  # NaN is not either
            raise ValueError(f"least is {least}: give at least 0")
        self.value = value
        self.better = better
        self.patience = checked_count("patience", patience, 1)
        self.least = least
        self.best: float | None = None
        """The best value so far."""
        self.best_step = 0
        """Updates that were done then."""
        self.waited = 0
        """Evaluations since then."""
        self._loop: Loop | None = None

    def on_train_begin(self, loop: Loop) -> None:
        self._loop = loop

    def on_evaluation_end(self, record: Record) -> None:
        if self.value not in record.values:
            raise KeyError(f"evaluations have no {self.value}; they have {', '.join(record.values)}")
        now = record.values[self.value]
        gain = math.inf
        if self.best is not None:
            gain = self.best - now if self.better == "lower" else now - self.best
        if gain > self.least and not math.isnan(now):
            self.best, self.best_step, self.waited = now, record.step, 0
            return
        self.waited += 1
        if self.waited >= self.patience and self._loop is not None:
            self._loop.stop()

    def state_dict(self) -> dict[str, Any]:
        """The best value and how long ago it was, as plain numbers, for a checkpoint."""
        return {"best": self.best, "best_step": self.best_step, "waited": self.waited}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from what :meth:`state_dict` gave. Raises KeyError where it is of something else."""
        self.best, self.best_step, self.waited = state["best"], state["best_step"], state["waited"]
