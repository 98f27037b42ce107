"""An evaluation that is broken off when SIGTERM comes: it may take longer than what is left until the machine goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tpulint_runtime.backend import Backend
from tpulint_runtime.checkpoint import Checkpoints, randomness
from tpulint_runtime.loop.evaluation import Evaluation, TalliesOf
from tpulint_runtime.loop.history import History
from tpulint_runtime.masked import Tally


def watched(tallies_of: TalliesOf, checkpoints: Checkpoints, backend: Backend, save: Callable[[], Any]) -> TalliesOf:
    """The ``tallies_of`` of an evaluation that calls ``save`` before the next batch once SIGTERM has come. ``save``
    ends the process: it raises :class:`Preempted`. What it saves is the state before the evaluation, random numbers
    included, so that the resumed run makes all of it.

    Several processes finish the evaluation: they cannot agree amid one whose batches they have not equally many of."""
    if backend.place().processes > 1:
        return tallies_of
    before = randomness.capture(backend)

    def told(model: Any, batch: Any) -> Mapping[str, Tally]:
        if checkpoints.preempted:
            randomness.restore(before, backend)
            save()
        return tallies_of(model, batch)

    return told


def is_owed(evaluation: Evaluation, history: History, steps: int) -> bool:
    """Whether a run that is resumed after ``steps`` updates was broken off in an evaluation amid an epoch. One at the
    end of an epoch comes by itself: the epoch is resumed at its end."""
    if not evaluation.every or not steps or steps % evaluation.every:
        return False
    return not history.evaluations or history.evaluations[-1].step != steps
