"""A training: the epochs of a loader, in the steps of a loop, with evaluations and checkpoints between them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tpulint_runtime.loop.device_batches import device_batches
from tpulint_runtime.loop.epoch_batches import epoch_batches
from tpulint_runtime.loop.notice import is_owed, watched
from tpulint_runtime.loop.parts import check_training
from tpulint_runtime.loop.position import begin_epoch, usable_sampler
from tpulint_runtime.settings import check_loader, checked_count

if TYPE_CHECKING:
    from tpulint_runtime.checkpoint import Checkpoints
    from tpulint_runtime.loop.evaluation import Evaluation
    from tpulint_runtime.loop.loop import Loop


class Training:
    """What :meth:`Loop.train` does, with its arguments."""

    def __init__(
        self,
        loop: Loop,
        loader: Iterable[Any],
        epochs: int | None,
        steps: int | None,
        evaluation: Evaluation | None,
        checkpoints: Checkpoints | None,
    ) -> None:
        if epochs is None and steps is None:
            raise ValueError("how long to train is not said: give epochs or steps")
        self._loop = loop
        self._epochs = None if epochs is None else checked_count("epochs", epochs, 0)
        self._steps = None if steps is None else checked_count("steps", steps, 0)
        check_loader("loader", loader)
        self._loader = loader
        check_training(evaluation, checkpoints)
        self._evaluation = evaluation
        self._checkpoints = checkpoints
        self._is_resumed = False
        """Whether it began with a checkpoint."""

    def run(self) -> None:
        """Trains until it is done."""
        callbacks = self._loop.callbacks
        with self._checkpoints or nullcontext():
            self._begin()
            try:
                callbacks.tell("on_train_begin", self._loop)
                self._train()
            except BaseException:
                callbacks.end(is_failing=True)
                raise
            callbacks.end(is_failing=False)

    def _begin(self) -> None:
        loop = self._loop
        loop.is_stopping = False
        loop.prepare()
        if self._checkpoints is not None:
            parts = {"model": loop.model, "optimizer": loop.optimizer, "scheduler": loop.scheduler}
            sampler = usable_sampler(self._loader)
            self._is_resumed = self._checkpoints.resume(**parts, sampler=sampler, loop=loop) > 0
        wanted = [] if self._steps is None else [self._steps]
        length = _length_of(self._loader)
        if length is not None and self._epochs is not None:
            wanted.append(self._epochs * -(-length // loop.accumulate))
        loop.planned_steps = min(wanted, default=None)
        loop.logged_at = time.monotonic()

    def _train(self) -> None:
        loop, evaluation, checkpoints = self._loop, self._evaluation, self._checkpoints
        if evaluation is not None and self._is_resumed and is_owed(evaluation, loop.history, loop.steps):
            self._evaluate(evaluation)
        while not self._is_done(self._epochs) or self._owes_end():
            loop.batches = begin_epoch(self._loader, loop.epoch, loop.batches)
            loop.callbacks.tell("on_epoch_begin")
            is_whole = True
            left = epoch_batches(self._loader, loop.batches, can_save=checkpoints is not None)
            for batches in _groups(device_batches(left, loop.backend, loop.ahead), loop.accumulate):
                loop.callbacks.tell("on_step_begin", batches if loop.accumulate > 1 else batches[0])
                loop.step(batches)
                loop.callbacks.tell("on_step_end")
                if loop.steps % loop.log_every == 0:
                    loop.log()
                if evaluation is not None and evaluation.every and loop.steps % evaluation.every == 0:
                    self._evaluate(evaluation)
                if checkpoints is not None and checkpoints.is_due(loop.steps - 1):
                    self._save(checkpoints)
                if self._is_done(None):
                    is_whole = loop.batches == _length_of(self._loader)  # it is not asked for more: that may draw
                    break
            if is_whole:
                if not loop.batches:
                    raise ValueError("the loader has no batch (an iterator is at its end after one epoch)")
                if evaluation is not None and not evaluation.every:
                    self._evaluate(evaluation)
                loop.callbacks.tell("on_epoch_end")
                loop.epoch, loop.batches = loop.epoch + 1, 0
        loop.log()
        if checkpoints is not None and loop.steps:
            self._save(checkpoints)  # unless this step is saved

    def _save(self, checkpoints: Checkpoints) -> None:
        with self._loop.callbacks.expected():
            checkpoints.save(self._loop.steps - 1, done=self._loop.batches)

    def _evaluate(self, evaluation: Evaluation) -> None:
        tallies_of, checkpoints = evaluation.tallies_of, self._checkpoints
        if checkpoints is not None:
            tallies_of = watched(tallies_of, checkpoints, self._loop.backend, lambda: self._save(checkpoints))
        self._loop.evaluate(epoch_batches(evaluation.loader, 0, can_save=checkpoints is not None), tallies_of)

    def _owes_end(self) -> bool:
        """Whether the run before was broken off behind the last step of its epoch, and before the end of that."""
        return self._is_resumed and 0 < self._loop.batches == _length_of(self._loader)

    def _is_done(self, epochs: int | None) -> bool:
        all_epochs = epochs is not None and self._loop.epoch >= epochs
        return self._loop.is_stopping or all_epochs or (self._steps is not None and self._loop.steps >= self._steps)


def _length_of(loader: Iterable[Any]) -> int | None:
    """Batches of an epoch, if that is known."""
    try:
        return len(loader)  # type: ignore[arg-type]
    except (TypeError, NotImplementedError):  # a DataLoader has __len__ also where its data set has none
        return None


def _groups(batches: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Batches, so many at a time; at the end what is left."""
    group: list[Any] = []
    for batch in batches:
        group.append(batch)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
