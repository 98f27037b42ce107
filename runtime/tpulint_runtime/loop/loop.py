"""The training loop: each distinct shape is compiled once, and nothing is read but what is logged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from tpulint_runtime.backend import Backend, current
from tpulint_runtime.loop.callbacks import Callbacks
from tpulint_runtime.loop.evaluation import Evaluation, TalliesOf, evaluate
from tpulint_runtime.loop.gradients import Gradients
from tpulint_runtime.loop.history import History, Loggable, Record, Values
from tpulint_runtime.loop.optimizer_numbers import VaryingNumbers
from tpulint_runtime.loop.optimizer_state import make_state
from tpulint_runtime.loop.parts import (
    Loss,
    check_kernels,
    check_parts,
    checked_callbacks,
    checked_clip_norm,
    devices_of,
    parameters_of,
    parts_of,
    rate_of,
)
from tpulint_runtime.loop.precision import autocast
from tpulint_runtime.loop.training import Training
from tpulint_runtime.masked import Tally
from tpulint_runtime.settings import check_backend, checked_count, kind_of

if TYPE_CHECKING:
    from tpulint_runtime.checkpoint import Checkpoints

LossOf: TypeAlias = Callable[[Any, Any], Loss | tuple[Loss, Mapping[str, Loggable]]]


class Loop:
    """Trains a model.

    .. code-block:: python

        def loss_of(model, batch):
            (ids, mask), rows = batch
            return tally_cross_entropy(model(ids[:, :-1]), ids[:, 1:], mask[:, 1:])

        loop = Loop(model, optimizer, loss_of, scheduler=scheduler, bf16=True, clip_norm=1.0)
        history = loop.train(loader, epochs=3)

    model, optimizer
        The model on its device, which decides where everything runs, and the optimizer made of it there.
    loss_of
        ``loss_of(model, batch)`` gives the loss of a batch on the device: a mean, a tensor without dimensions, or a
        :class:`Tally`. Or a pair of the loss and further values to log: tensors of one number or tallies, by name. It
        reads nothing.
    scheduler
        Anything whose ``step()`` is to be called after each update.
    bf16
        Whether the forward pass runs under autocast to bfloat16, on XLA and CUDA. On the CPU nothing is cast.
    accumulate
        Batches of an update, at least 1. At the end of an epoch there may be fewer. The update is that of the mean over
        all of them: of tallies, over all that they count; of plain losses, each batch weighs the same.
    clip_norm
        The largest norm of all gradients together; larger ones are scaled down. The norm is logged as ``grad_norm``.
    log_every
        Updates between two times that values are read, at least 1. Reading waits for the device.
    callbacks
        See :class:`Callback`.
    ahead
        Batches that a thread sends to the device beforehand; 0 for none, which keeps random numbers that the data set
        draws in this process in the order of the steps. On the CPU there is no thread.
    backend
        By default that of the model.

    Raises TypeError for what is something else, ValueError for numbers that cannot be, for an optimizer whose
    parameters are not on the model's device, and for a scheduler of another optimizer. What ``loss_of`` returns is
    looked at in each step, without reading it: one number with a gradient, on the device of the model.

    With several processes each trains on batches of its own, and gradients are averaged over all of them; start with
    the same weights everywhere, and the same number of batches. Models that average them by themselves, as
    ``DistributedDataParallel`` does, are left to do so where ``accumulate`` is 1.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        loss_of: LossOf,
        *,
        scheduler: Any = None,
        bf16: bool = False,
        accumulate: int = 1,
        clip_norm: float | None = None,
        log_every: int = 50,
        callbacks: Iterable[Any] = (),
        ahead: int = 2,
        backend: Backend | None = None,
    ) -> None:
        check_parts(model, optimizer, loss_of, scheduler)
        check_backend(backend)
        if not isinstance(bf16, bool):
            raise TypeError(f"bf16 is {bf16!r}: give True or False")
        self.model = model
        self.optimizer = optimizer
        self.loss_of = loss_of
        self.scheduler = scheduler
        self.bf16 = bf16
        self.accumulate = checked_count("accumulate", accumulate, 1)
        self.clip_norm = checked_clip_norm(clip_norm)
        self.log_every = checked_count("log_every", log_every, 1)
        self._callbacks = checked_callbacks(callbacks)
        self.ahead = checked_count("ahead", ahead, 0)
        self.backend = backend or current(model)
        self.steps = 0
        """Updates that were done."""
        self.epoch = 0
        """The epoch under way, from 0; after training, the number of epochs that were done."""
        self.batches = 0
        """Batches of this epoch that were trained."""
        self.planned_steps: int | None = None
        """Updates that :meth:`train` was asked for in all, where that is known."""
        self.is_stopping = False
        self.history = History()
        self._values = Values()
        self._gradients: Gradients | None = None
        self._numbers = VaryingNumbers(optimizer, self.backend)
        self._is_prepared = False
        self._trained: set[torch.nn.Parameter] = set()
        """Those that all was prepared for."""
        self._others: list[torch.nn.Parameter] = []
        """Those of the model that the optimizer has not."""
        self._is_torn = False
        """Whether an update was broken off."""
        self.logged_at = time.monotonic()
        """When values were read last, or training began: seconds of a clock."""
        self._last = (rate_of(optimizer), 0)
        """Learning rate and epoch of the last step."""
        self._devices = devices_of(model)
        check_kernels(optimizer, self.backend)

    @property
    def callbacks(self) -> Callbacks:
        """Those that are told, in order."""
        return self._callbacks

    @callbacks.setter
    def callbacks(self, callbacks: Iterable[Any]) -> None:
        self._callbacks = checked_callbacks(callbacks)

    # ---------------------------------------------------------------- a step

    def step(self, batches: Sequence[Any]) -> None:
        """One update, from these batches on the device: one, or up to ``accumulate``. Reads nothing.

        This is what one would write by hand. It begins without gradients, whatever others left in the model, and leaves
        none, those of parameters that the optimizer has not included. An exception, an interrupt included, leaves
        nothing of an update that was not done.

        Raises TypeError for what is no list or tuple of batches, ValueError for none of them or too many."""
        if not isinstance(batches, list | tuple):
            raise TypeError(f"batches is {kind_of(batches)}: give a list of batches, [batch]")
        if not 1 <= len(batches) <= self.accumulate:
            raise ValueError(f"{len(batches)} batches for an update with accumulate={self.accumulate}: give [batch]")
        self.prepare()
        before = self._values.sizes()
        try:
            computed = self._update(batches)
        except BaseException:
            self._values.cut(before)
            self._is_torn = True
            raise
        self.steps += 1
        self.batches += len(batches)
        self._end_graph(*computed)

    def _update(self, batches: Sequence[Any]) -> tuple[Any, ...]:
        """Returns what its graph computes."""
        self._drop_gradients()  # such as the loop of a generator leaves in the discriminator
        for batch in batches:
            with autocast(self.bf16, self.backend):
                loss, others = parts_of(self.loss_of(self.model, batch), self._devices)
            logged: dict[str, Loggable] = {"loss": loss, **others}
            for name, value in logged.items():
                self._values.keep(name, value)
            total: Any  # of which backward has types with some versions of torch, and none with others
            if self._gradients is None:
                total = loss.mean() if isinstance(loss, Tally) else loss
                total.backward()
            else:
                total, count = (loss.total, loss.count) if isinstance(loss, Tally) else (loss, self._gradients.one)
                total.backward()
                self._gradients.add(count)
                self._drop_others()
                if self.accumulate > 1:  # each batch is a graph of its own, and so is the update
                    self._end_graph(logged, self._gradients.sums)
        if self._gradients is not None:
            self._gradients.put_back()
        if self.clip_norm is not None:
            self._values.keep("grad_norm", _clip(self.optimizer, self.clip_norm))
        with self._numbers:
            self.optimizer.step()
        self._drop_gradients()  # before the boundary, which would have to keep them
        self._last = (rate_of(self.optimizer), self.epoch)
        if self.scheduler is not None:
            self.scheduler.step()
        return logged, self.model

    def _end_graph(self, *computed: Any) -> None:
        try:
            self.callbacks.tell("on_boundary", *computed)
        finally:
            self.backend.sync()

    def prepare(self) -> None:
        """Makes the state of the optimizer, so that the first step is the graph of all steps, and runs what is pending.
        :meth:`step` and :meth:`train` call it; what it has done it does not do again. A parameter that is trained from
        some step on, unfrozen or in a new group, gets its state before that step."""
        if self._is_torn:
            self._is_torn = False
            self._drop_gradients()
            if self._gradients is not None:
                self._gradients.discard()
            self.backend.sync()
        parameters = parameters_of(self.optimizer)
        trained = {parameter for parameter in parameters if parameter.requires_grad}
        if self._is_prepared and trained <= self._trained:
            return
        self._trained |= trained
        known = {*parameters}
        self._others = [parameter for parameter in self.model.parameters() if parameter not in known]
        self._drop_gradients()
        make_state(self.optimizer, self.backend)
        averages = isinstance(self.model, torch.nn.parallel.DistributedDataParallel)
        if self._gradients is None and (self.accumulate > 1 or (self.backend.place().processes > 1 and not averages)):
            self._gradients = Gradients(self.backend)
        if self._gradients is not None:
            self._gradients.start(parameters)
        if not self._is_prepared:
            self.backend.sync()  # not again: it moves the random numbers on
            self._is_prepared = True

    def _drop_gradients(self) -> None:
        self.optimizer.zero_grad()
        self._drop_others()

    def _drop_others(self) -> None:
        # Kept, they would be added up: the second step would be another graph. Dropped, they are not even computed.
        for parameter in self._others:
            parameter.grad = None

    # ---------------------------------------------------------------- the loop

    def train(
        self,
        loader: Iterable[Any],
        *,
        epochs: int | None = None,
        steps: int | None = None,
        evaluation: Evaluation | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> History:
        """Trains until ``epochs`` epochs or ``steps`` updates are done, counted from the very beginning, or a callback
        stops the loop; calling it again goes on. An epoch whose last update that was is finished, where the loader
        tells its length: it is evaluated, and the next one follows. Returns the history.

        loader
            Batches of an epoch each time it is iterated, of few shapes, on the host. Its batch sampler, or its sampler,
            is told the epoch where it has ``set_epoch``.
        evaluation
            What to evaluate, and how often.
        checkpoints
            Resumed from at the beginning, and saved to, at the end, too: model, optimizer, scheduler, sampler, the loop
            itself with its history, and callbacks that have a state. The loader's batch sampler has to know its
            position, as :class:`EpochBatchSampler` and :class:`BucketBatchSampler` do. When training is over they are
            closed: the last one is written, and SIGTERM ends the process again. A training that a callback has stopped
            stays so where it is resumed.

        Raises ValueError without ``epochs`` and ``steps``, and for a loader that cannot be continued amid an epoch
        where ``checkpoints`` are given, CheckpointError for one that could not be written.
        """
        Training(self, loader, epochs, steps, evaluation, checkpoints).run()
        return self.history

    def evaluate(self, loader: Iterable[Any], tallies_of: TalliesOf) -> dict[str, float]:
        """The means over a data set, in the precision of the training: see :func:`evaluate`. They are kept in the
        history, and callbacks are told."""
        began = time.monotonic()
        with self.callbacks.expected():
            means = evaluate(self.model, loader, tallies_of, bf16=self.bf16, ahead=self.ahead, backend=self.backend)
        record = Record(self.steps, self.epoch, means, time.monotonic() - began)
        self.history.evaluations.append(record)
        self.callbacks.tell("on_evaluation_end", record)
        return means

    def log(self) -> None:
        """Reads what the steps since the last time have left to log. :meth:`train` calls it when it is time."""
        with self.callbacks.expected():
            values = self._values.read(self.backend)
        if not values:
            return
        now = time.monotonic()
        rate, epoch = self._last
        if rate is not None:
            values = {**values, "lr": rate}
        record = Record(self.steps, epoch, values, now - self.logged_at)
        self.logged_at = now
        self.history.records.append(record)
        self.callbacks.tell("on_log", record)

    def stop(self) -> None:
        """Ends the training after the step under way. For callbacks; in all processes, or they wait for each other."""
        self.is_stopping = True

    # ---------------------------------------------------------------- state

    def state_dict(self) -> dict[str, Any]:
        """Where the training stands, for a checkpoint: counters, history, values not read yet, states of callbacks."""
        return {
            "steps": self.steps,
            "epoch": self.epoch,
            "batches": self.batches,
            "is_stopping": self.is_stopping,
            "last": [*self._last],
            "decays": dict(self._numbers.decays),
            "history": self.history.state_dict(),
            "values": self._values.state_dict(),
            "callbacks": self.callbacks.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where ``state`` was taken. Raises ValueError for other callbacks than it has states of."""
        self.callbacks.check_states(state["callbacks"])
        self.steps, self.epoch, self.batches = int(state["steps"]), int(state["epoch"]), int(state["batches"])
        self.is_stopping = bool(state["is_stopping"])
        rate, epoch = state["last"]
        self._last = (None if rate is None else float(rate)), int(epoch)
        self._numbers.decays = dict(state.get("decays", {}))
        self.history.load_state_dict(state["history"])
        self._values.load_state_dict(state["values"])
        self.callbacks.load_state_dict(state["callbacks"])


def _clip(optimizer: torch.optim.Optimizer, largest: float) -> torch.Tensor:
    """Scales gradients down to a norm, in all together, and returns what it was. Not ``clip_grad_norm_``: torch_xla
    replaces that one by a function whose result an all-reduce would not reach."""
    given = [parameter for parameter in parameters_of(optimizer) if parameter.grad is not None]
    norm = torch.nn.utils.get_total_norm([parameter.grad for parameter in given if parameter.grad is not None])
    torch.nn.utils.clip_grads_with_norm_(given, largest, norm)
    return norm
