"""Batches of a shuffled data set, in an order that a resumed training continues."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

import torch

from tpulint_runtime.positions import EpochPosition
from tpulint_runtime.settings import checked_count


class EpochBatchSampler(EpochPosition):
    """Batches of indices for ``DataLoader(batch_sampler=...)``. The order depends on the seed and the epoch alone, so a
    position in it is two numbers.

    data
        The data set, or its number of samples.
    batch_size
        Samples of a batch of one process.
    shuffle, seed
        Whether samples come in a random order, another one each epoch: call :meth:`set_epoch`. What workers of the
        loader draw from the random numbers of Python, numpy and torch depends on ``seed`` and the epoch, too: each
        batch has its own, whichever worker makes it.
    num_replicas, rank
        Processes that train together, and which of them this is. All get the same number of batches, of equal sizes.
    drop_last
        Whether samples that do not fill a batch of all processes are left out. If not, the last batch is short; where
        it cannot be divided evenly, samples from the start of the epoch come again.

    Raises TypeError and ValueError for arguments that cannot be, ValueError with ``drop_last`` for fewer samples than
    one batch needs.
    """

    def __init__(
        self,
        data: Sized | int,
        batch_size: int,
        *,
        shuffle: bool = True,
        seed: int = 0,
        num_replicas: int = 1,
        rank: int = 0,
        drop_last: bool = True,
    ) -> None:
        super().__init__(seed, num_replicas, rank)
        self.samples = len(data) if hasattr(data, "__len__") else checked_count("data", data, 0)
        self.batch_size = checked_count("batch_size", batch_size, 1)
        self.shuffle = shuffle
        self.drop_last = drop_last
        if len(self) < 1:
            raise ValueError(f"{self.samples} samples are no batch of {batch_size} for {num_replicas} processes")

    def __len__(self) -> int:
        """Batches of a whole epoch, of this process; the same for each."""
        width = self.batch_size * self.num_replicas
        return self.samples // width if self.drop_last else -(-self.samples // width)

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of the epoch, from the loaded position on."""
        start, self._start, self._handed = self._start, 0, self._start
        yield from self._share(self._steps(start), start)

    def _steps(self, start: int) -> Iterator[torch.Tensor]:
        """The batches of all processes together."""
        order, width = self._order(), self.batch_size * self.num_replicas
        for number in range(start, len(self)):
            together = order[number * width : (number + 1) * width]
            missing = -len(together) % self.num_replicas
            if missing:
                together = torch.cat([together, order.repeat(-(-missing // len(order)))[:missing]])
            yield together

    def _identity(self) -> dict[str, Any]:
        """What the order depends on."""
        return {
            "samples": self.samples,
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
            "seed": self.seed,
            "num_replicas": self.num_replicas,
            "drop_last": self.drop_last,
        }

    def _order(self) -> torch.Tensor:
        if not self.shuffle:
            return torch.arange(self.samples)
        return torch.randperm(self.samples, generator=self._epoch_generator())
