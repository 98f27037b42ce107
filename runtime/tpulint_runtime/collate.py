"""Batches of few shapes: collate functions for ``DataLoader(collate_fn=...)`` that pad, and say where they did.

All of them are plain callables on CPU tensors, can be sent to loader workers, and return a pair: the batch and a mask.
``B`` is the number of samples, ``L`` the length of a sample, ``P >= L`` the padded length, ``*`` any further
dimensions.

.. code-block:: python

    loader = DataLoader(dataset, batch_size=16, collate_fn=PadLastBatch(16, collate=PadToMultiple(64)))
    for (batch, mask), rows in loader:
        ...

Unpack the pairs: ``MpDeviceLoader`` hands over every tuple as a list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import torch
from torch.utils.data import default_collate

from tpulint_runtime.fill import Filling
from tpulint_runtime.nested import Path, is_column, is_leaf, items, rebuild, show, steps_to
from tpulint_runtime.settings import check_function, check_number, checked_count, checked_sizes, checked_whole

Collate = Callable[[list[Any]], Any]
Overflow = Literal["error", "truncate"]


class Padding(ABC):
    """Pads samples along one dimension to a length that :meth:`target` chooses, and stacks them. The classes below say
    how."""

    def __init__(
        self,
        *,
        dim: int = 0,
        value: float = 0,
        values: Mapping[Any, float] | None = None,
        only: Collection[Any] | None = None,
        collate: Collate | None = None,
    ) -> None:
        self.dim = checked_whole("dim", dim)
        if self.dim < 0:
            raise ValueError(f"dim is {dim}: count the dimensions of a sample from 0")
        check_number("value", value)
        if collate is not None:
            check_function("collate", collate, "a list of samples")
        self.value = value
        self.collate = collate
        self._filling = Filling(only, values)

    @abstractmethod
    def target(self, length: int) -> int:
        """The padded length for a batch whose longest sample has ``length``. A smaller one cuts."""

    def __call__(self, samples: list[Any]) -> tuple[Any, Any]:
        """The batch and its mask. See the class for shapes."""
        if not samples:
            raise ValueError("no samples")
        if self.collate is None:
            self._filling.check_names(samples[0])
            return self._merge(samples, ())
        batch = self.collate(samples)
        self._filling.check_names(batch)
        return self._widen(batch, len(samples), ())

    def _merge(self, samples: Sequence[Any], path: Path) -> tuple[Any, Any]:
        """Samples of one structure as one batch of it, leaf by leaf."""
        first = samples[0]
        _check_given(samples, path)
        if is_leaf(first):
            return self._stack(samples, path)
        rows = [dict(items(sample)) if not is_leaf(sample) else {} for sample in samples]
        for row in rows:
            if row.keys() != rows[0].keys():
                hint = " (make a list of numbers a tensor)" if isinstance(first, list) else ""
                raise ValueError(f"samples differ in what they hold at {show(path)}: {[*rows[0]]} and {[*row]}{hint}")
        pairs = [self._merge([row[key] for row in rows], (*path, key)) for key in rows[0]]
        return rebuild(first, [batch for batch, _ in pairs]), rebuild(first, [mask for _, mask in pairs])

    def _stack(self, samples: Sequence[Any], path: Path) -> tuple[Any, Any]:
        if all(sample is None for sample in samples):
            return None, None
        if not all(hasattr(sample, "shape") and hasattr(sample, "dtype") for sample in samples):
            return _collate(samples, path), None
        tensors = [torch.as_tensor(sample) for sample in samples]
        if not self._filling.includes(path) or min(tensor.dim() for tensor in tensors) <= self.dim:
            return _collate(tensors, path), None
        self._check_alike(tensors, path)
        target = self.target(max(int(tensor.size(self.dim)) for tensor in tensors))
        padded = [self._pad(tensor, self.dim, target, path) for tensor in tensors]
        lengths = torch.tensor([int(tensor.size(self.dim)) for tensor in tensors])
        return torch.stack(padded), torch.arange(target) < lengths[:, None]

    def _check_alike(self, tensors: Sequence[torch.Tensor], path: Path) -> None:
        def rest(tensor: torch.Tensor) -> tuple[Any, ...]:
            return tensor.dtype, *(size for dim, size in enumerate(tensor.shape) if dim != self.dim), tensor.dim()

        for tensor in tensors:
            if rest(tensor) != rest(tensors[0]):
                raise ValueError(
                    f"samples at {show(path)} differ in more than dimension {self.dim}: "
                    f"{tuple(tensors[0].shape)} {tensors[0].dtype} and {tuple(tensor.shape)} {tensor.dtype}"
                )

    def _widen(self, batch: Any, count: int, path: Path) -> tuple[Any, Any]:
        """Pads what another collate function made of so many samples."""
        if is_column(batch, count):
            return batch, None
        if not is_leaf(batch):
            pairs = [self._widen(child, count, (*path, key)) for key, child in items(batch)]
            return rebuild(batch, [child for child, _ in pairs]), rebuild(batch, [mask for _, mask in pairs])
        dim = self.dim + 1  # the collate function put the samples first
        if not isinstance(batch, torch.Tensor) or batch.dim() <= dim or not self._filling.includes(path):
            return batch, None
        if int(batch.size(0)) != count == int(batch.size(1)):
            raise ValueError(
                f"{show(path)} is {tuple(batch.shape)} of {count} samples, which come second: make collate put them "
                "first (batch_first=True)"
            )
        length = int(batch.size(dim))
        target = self.target(length)
        mask = (torch.arange(target) < length).repeat(int(batch.size(0)), 1)
        return self._pad(batch, dim, target, path), mask

    def _pad(self, tensor: torch.Tensor, dim: int, target: int, path: Path) -> torch.Tensor:
        missing = target - int(tensor.size(dim))
        if missing <= 0:
            return tensor.narrow(dim, 0, target)
        return self._filling.extend(tensor, dim, missing, path, self.value)


def _check_given(samples: Sequence[Any], path: Path) -> None:
    """Raises ValueError where some samples have nothing: what is missing was perhaps not found when it was loaded."""
    missing = [number for number, sample in enumerate(samples) if sample is None]
    if not missing or (path and len(missing) == len(samples)):
        return
    place = f", {steps_to(path)}," if path else ""
    others = f" (and {len(missing) - 1} more of {len(samples)})" if len(missing) > 1 else ""
    advice = "give what the others have there, or None in all" if path else "leave it out of the data set"
    raise ValueError(f"sample {missing[0]}{place} is None{others}: {advice}")


def _collate(samples: Sequence[Any], path: Path) -> Any:
    """As torch does it; its message does not say where."""
    try:
        return default_collate(list(samples))
    except (TypeError, RuntimeError, ValueError) as error:
        raise ValueError(f"samples cannot be put together at {show(path)}: {error}") from error


class PadToMultiple(Padding):
    """Pads every batch to the next multiple of ``multiple``: one graph for each multiple that occurs.

    multiple
        At least 1. A sample of length 0 is padded to one multiple.
    dim
        The dimension of a *sample* that varies; tensors without that dimension are stacked as they are.
    value, values
        What to fill with; ``values`` by name, such as ``{"labels": -100}``. A name is a key of the batch, a position in
        it (``1`` for the second of a pair), or a tuple of these.
    only
        Names of the tensors to pad; by default all that have the dimension. Each is padded to a length of its own.
    collate
        A collate function to run first. What it returns, ``(B, L, *)`` with the samples first, is padded along
        dimension ``dim + 1``; the mask then tells its columns from those added here, for only it knows which of its own
        columns are padding.

    Samples of shape ``(L, *)`` (for ``dim`` 0) become ``(B, P, *)``, of the same dtype. The mask has the structure of
    the batch; for each padded tensor ``(B, P)`` of dtype bool, True where there is data, and None for everything else.
    Everything else goes through ``default_collate``.

    Raises ValueError for samples that differ in structure, dtype or another dimension, for None in some of them, for
    what ``collate`` returns with time first and samples second, for a name that the batch does not have, and for a
    value that the dtype cannot hold. The constructor refuses settings that cannot be, with TypeError or ValueError.
    """

    def __init__(
        self,
        multiple: int,
        *,
        dim: int = 0,
        value: float = 0,
        values: Mapping[Any, float] | None = None,
        only: Collection[Any] | None = None,
        collate: Collate | None = None,
    ) -> None:
        super().__init__(dim=dim, value=value, values=values, only=only, collate=collate)
        self.multiple = checked_count("multiple", multiple, 1)

    def target(self, length: int) -> int:
        return max(1, -(-length // self.multiple)) * self.multiple


class Buckets(Padding):
    """Pads every batch to the smallest of a few lengths that holds it: one graph for each length.

    sizes
        The lengths, in any order, at least 1 each.
    overflow
        For a sample longer than all of them: ``error`` raises ValueError, ``truncate`` cuts its end off.

    The rest is as with :class:`PadToMultiple`.
    """

    def __init__(
        self,
        sizes: Iterable[int],
        *,
        overflow: Overflow = "error",
        dim: int = 0,
        value: float = 0,
        values: Mapping[Any, float] | None = None,
        only: Collection[Any] | None = None,
        collate: Collate | None = None,
    ) -> None:
        super().__init__(dim=dim, value=value, values=values, only=only, collate=collate)
        self.sizes = checked_sizes(sizes)
        if overflow not in ("error", "truncate"):
            raise ValueError(f"overflow is {overflow!r}, not error or truncate")
        self.overflow = overflow

    def target(self, length: int) -> int:
        for size in self.sizes:
            if length <= size:
                return size
        if self.overflow == "error":
            raise ValueError(f"a sample of length {length} is longer than {self.sizes[-1]}")
        return self.sizes[-1]


class PadToLength(Buckets):
    """Pads every batch to ``length``, at least 1: one graph. As :class:`Buckets` with a single size, with the same
    shapes, dtypes and errors."""

    def __init__(
        self,
        length: int,
        *,
        overflow: Overflow = "error",
        dim: int = 0,
        value: float = 0,
        values: Mapping[Any, float] | None = None,
        only: Collection[Any] | None = None,
        collate: Collate | None = None,
    ) -> None:
        length = checked_count("length", length, 1)
        super().__init__((length,), overflow=overflow, dim=dim, value=value, values=values, only=only, collate=collate)
