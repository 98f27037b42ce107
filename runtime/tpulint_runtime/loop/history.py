"""What a training has logged: numbers on the host. And what it has left to log: tensors on the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from tpulint_runtime.backend import Backend
from tpulint_runtime.masked import Tally

Loggable: TypeAlias = torch.Tensor | Tally | float
"""A tensor of one number, a sum with its count, or a number of the host."""


@dataclass(frozen=True, slots=True)
class Record:
    """What was logged at one time."""

    step: int
    """Updates that were done."""
    epoch: int
    """The epoch they end in, from 0."""
    values: Mapping[str, float]
    """By name. Of training, means over the steps since the record before; ``lr`` is that of the last of them."""
    seconds: float
    """Wall time since the record before, reading the values included. Of an evaluation, what it took."""


class History:
    """All records of a training, in order."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        """Of training."""
        self.evaluations: list[Record] = []

    def column(self, name: str) -> list[float]:
        """The values of one name, of the training records that have it."""
        return [record.values[name] for record in self.records if name in record.values]

    def evaluated(self, name: str) -> list[float]:
        """The values of one name, of the evaluations that have it."""
        return [record.values[name] for record in self.evaluations if name in record.values]

    def state_dict(self) -> dict[str, Any]:
        """Plain values, for a checkpoint."""
        return {name: [_plain(record) for record in getattr(self, name)] for name in ("records", "evaluations")}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Has the records that :meth:`state_dict` gave, and no others. Raises KeyError where there are none."""
        self.records, self.evaluations = (
            [Record(*record) for record in state[name]] for name in ("records", "evaluations")
        )


def _plain(record: Record) -> list[Any]:
    return [record.step, record.epoch, dict(record.values), record.seconds]


class Values:
    """Values of steps, kept on the device until all of them are read together."""

    def __init__(self) -> None:
        self._kept: dict[str, list[Loggable]] = {}

    def keep(self, name: str, value: Loggable) -> None:
        """Keeps the value of a step. Runs and reads nothing.

        Raises ValueError for a tensor of more than one number."""
        if not isinstance(value, Tally | torch.Tensor | int | float):
            raise ValueError(f"{name} is {value!r}: give a number to log, a tensor of one, or a Tally")
        if isinstance(value, Tally):
            value = Tally(value.total.detach(), value.count.detach())
        elif isinstance(value, torch.Tensor):
            if value.numel() != 1:
                raise ValueError(f"{name} has shape {tuple(value.shape)}: give one number to log, or a Tally")
            value = value.detach()
        self._kept.setdefault(name, []).append(value)

    def sizes(self) -> dict[str, int]:
        """How many values are kept, by name."""
        return {name: len(values) for name, values in self._kept.items()}

    def cut(self, sizes: Mapping[str, int]) -> None:
        """Keeps no more than there were."""
        for name, values in self._kept.items():
            del values[sizes.get(name, 0) :]
        self._kept = {name: values for name, values in self._kept.items() if values}

    def read(self, backend: Backend) -> dict[str, float]:
        """The means of what was kept: of sums and counts, the sum of all over the count of all. Keeps nothing more.

        To be called behind the step boundary."""
        if not self._kept:
            return {}
        kept, self._kept = self._kept, {}
        on_device = [tensor for values in kept.values() for value in values for tensor in _tensors(value)]
        # Host sync, deliberate: all values of all steps since the last time, in one transfer, every `log_every` steps.
        numbers = iter([tensor.item() for tensor in backend.fetch(on_device)])
        means = {}
        for name, values in kept.items():
            total, count = 0.0, 0.0
            for value in values:
                total += value if isinstance(value, int | float) else next(numbers)
                count += next(numbers) if isinstance(value, Tally) else 1
            means[name] = total / max(count, 1)
        return means

    def state_dict(self) -> dict[str, Any]:
        """What is kept, as it is: tensors of the device."""
        return {
            name: [[*_tensors(value)] if isinstance(value, Tally) else value for value in values]
            for name, values in self._kept.items()
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._kept = {
            name: [Tally(*value) if isinstance(value, list) else value for value in values]
            for name, values in state.items()
        }


def _tensors(value: Loggable) -> tuple[torch.Tensor, ...]:
    if isinstance(value, Tally):
        return value.total, value.count
    return (value,) if isinstance(value, torch.Tensor) else ()
