"""Means over a data set, right for a last batch that is filled up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from tpulint_runtime.backend import Backend, current
from tpulint_runtime.loop.device_batches import device_batches
from tpulint_runtime.loop.precision import autocast
from tpulint_runtime.masked import RunningMean, Tally
from tpulint_runtime.settings import check_backend, check_loader, checked_count, kind_of

TalliesOf = Callable[[Any, Any], Mapping[str, Tally]]
"""What to evaluate: from the model and a batch on the device, sums with their counts, by name."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation that a loop makes at the end of each epoch, or more often."""

    loader: Iterable[Any]
    """Batches to evaluate: all of a data set, in few shapes. :class:`PadLastBatch` fills up the last one."""
    tallies_of: TalliesOf
    every: int | None = None
    """Updates between two evaluations, at least 1; None: one at the end of each epoch."""

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError for what cannot be."""
        check_loader("loader", self.loader)
        if not callable(self.tallies_of):
            raise TypeError(f"tallies_of is {kind_of(self.tallies_of)}: give a function of the model and a batch")
        if self.every is not None:
            object.__setattr__(self, "every", checked_count("every", self.every, 1))


def evaluate(
    model: torch.nn.Module,
    loader: Iterable[Any],
    tallies_of: TalliesOf,
    *,
    bf16: bool = False,
    ahead: int = 2,
    backend: Backend | None = None,
) -> dict[str, float]:
    """The means, by name, over all batches of ``loader`` in all processes.

    tallies_of
        ``tallies_of(model, batch)`` gives a mapping of names to :class:`Tally`, such as :func:`tally_cross_entropy` and
        :func:`tally_correct` make with the mask of the batch: what is filled up counts for nothing then.
    bf16, ahead
        As in :class:`Loop`.

    The model is in evaluation mode meanwhile, and each of its modules in the mode it was in afterwards. Sums stay on
    the device, with a step boundary after each batch: one program for each shape, and one transfer at the end.

    Raises TypeError for anything but tallies: a mean of means is wrong where batches are not equal, and one where rows
    are filled up is wrong altogether. ValueError if there is no batch.
    """
    check_backend(backend)
    ahead = checked_count("ahead", ahead, 0)
    backend = backend or current(model)
    sums: dict[str, RunningMean] = {}
    device = backend.device()
    with _evaluating(model), torch.no_grad():
        for batch in device_batches(loader, backend, ahead):
            with autocast(bf16, backend):
                tallies = tallies_of(model, batch)
            for name, tally in tallies.items():
                if not isinstance(tally, Tally):
                    raise TypeError(f"{name} is a {type(tally).__name__}, not a Tally: give tally(values, mask)")
                if name not in sums:
                    sums[name] = RunningMean(device)
                sums[name].add(tally)
            backend.sync()
    if not sums:
        raise ValueError("there is nothing to evaluate: the loader has no batch")
    return _means(sums, backend)


def _means(sums: dict[str, RunningMean], backend: Backend) -> dict[str, float]:
    # Host sync, deliberate: once, when all batches are done.
    fetched = backend.fetch([tensor for mean in sums.values() for tensor in (mean.total, mean.count)])
    own = [tensor.item() for tensor in fetched]
    everywhere = [json.loads(numbers) for numbers in backend.gather(json.dumps(own))]
    together = [sum(column) for column in zip(*everywhere, strict=True)]
    return {name: together[2 * index] / max(together[2 * index + 1], 1) for index, name in enumerate(sums)}


@contextmanager
def _evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Evaluation mode; afterwards the modes that were, which need not be that of the whole model."""
    before = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in before:
            module.training = training
