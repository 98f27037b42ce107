"""Batches of indices that take their random numbers along to the workers of a loader."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils.data import get_worker_info


class SeededBatch(list[int]):
    """The indices of a batch: a list. Where it arrives in a worker of a loader, Python, numpy and torch draw from
    ``seed`` on. So what is drawn for a batch depends neither on the worker that makes it nor on those it made before,
    and is the same in an epoch that goes on. In the process of the training nothing is seeded."""

    def __init__(self, indices: Iterable[int], seed: int) -> None:
        super().__init__(indices)
        self._seed = seed

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrive, ([*self], self._seed)


def _arrive(indices: list[int], seed: int) -> list[int]:
    if get_worker_info() is not None:
        random.seed(seed)
        torch.manual_seed(seed)
        if "numpy" in sys.modules:
            # One word more than Python, whose generator is the same: it would draw the same numbers.
            importlib.import_module("numpy").random.seed([seed % 2**32, seed // 2**32, 1])
    return indices
