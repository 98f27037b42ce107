"""Where a sampler of batches stands in an epoch, so that a run can continue amid one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class EpochPosition(ABC):
    """A sampler of batches that knows its epoch, how many of its batches are handed out, and where to start."""

    epoch: int
    _start: int
    """Batches that the next iteration leaves out: those done before."""
    _handed: int

    @abstractmethod
    def __len__(self) -> int:
        """Batches of a whole epoch, of this process."""

    @abstractmethod
    def _identity(self) -> dict[str, Any]:
        """What the order depends on."""

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of this epoch. The position, if one was loaded, is kept only for the epoch it is of."""
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
        self._handed = self._start
