"""Where a sampler of batches stands in an epoch, so that a run can continue amid one."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from tpulint_runtime.seeded_batch import SeededBatch
from tpulint_runtime.settings import checked_share, checked_whole


class EpochPosition(ABC):
    """A sampler of batches that knows its epoch, how many of its batches are handed out, and where to start."""

    def __init__(self, seed: int, num_replicas: int, rank: int) -> None:
        self.seed = checked_whole("seed", seed)
        self.num_replicas, self.rank = checked_share(num_replicas, rank)
        self.epoch = 0
        """The epoch that the next iteration is of."""
        self.generator = torch.Generator().manual_seed(self.seed % 2**64)
        """For ``DataLoader(generator=...)``. Without one of its own, a loader draws from torch's random numbers when it
        is iterated, so once more in a training that was resumed amid an epoch: all numbers after that would differ."""
        self._start = 0
        """Batches that the next iteration leaves out: those done before."""
        self._handed = 0
        self._turns = 0
        """Times that it was gone through since :meth:`set_epoch`: where nobody calls that, orders are alike, and random
        numbers are not."""

    @abstractmethod
    def __len__(self) -> int:
        """Batches of a whole epoch, of this process."""

    @abstractmethod
    def _identity(self) -> dict[str, Any]:
        """What the order depends on."""

    def _epoch_generator(self) -> torch.Generator:
        """Draws the order of the epoch."""
        # Two numbers in one seed: neighbouring seeds do not repeat each other's epochs.
        return torch.Generator().manual_seed((self.seed * 1_000_003 + self.epoch) % 2**63)

    def _share(self, steps: Iterable[torch.Tensor], start: int) -> Iterator[list[int]]:
        """What this process has of the batches of all processes together, which begin with number ``start``."""
        turn, self._turns = self._turns, self._turns + 1
        for number, step in enumerate(steps, start):
            place = f"{self.seed} {self.epoch} {turn} {number} {self.rank}"
            seed = int.from_bytes(hashlib.sha256(place.encode()).digest()[:8], "big")
            self._handed += 1
            yield SeededBatch(step[self.rank :: self.num_replicas].tolist(), seed)

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of this epoch. The position, if one was loaded, is kept only for the epoch it is of."""
        self._turns = 0
        if epoch != self.epoch:
            self.epoch, self._start, self._handed = epoch, 0, 0

    def state_dict(self, done: int | None = None) -> dict[str, Any]:
        """Where the epoch stands, for a checkpoint: plain numbers.

        done
            Batches of the epoch, from its start, that were trained. By default those handed out, which are more where
            loader workers or a device loader fetch ahead: give the number there."""
        position = self._handed if done is None else done
        if not 0 <= position <= len(self):
            raise ValueError(f"{position} of {len(self)} batches cannot be done")
        return {**self._identity(), "epoch": self.epoch, "position": position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues where ``state`` was taken: the next iteration starts with the batch after it.

        Raises ValueError if the state is of other data or other arguments, for then its position means nothing here."""
        for name, value in self._identity().items():
            if state.get(name) != value:
                raise ValueError(f"the state has {name} {state.get(name)}, this sampler {value}")
        self.epoch, self._start = int(state["epoch"]), int(state["position"])
        self._handed, self._turns = self._start, 0
