"""Batches of one number of rows: what is missing in the last one is filled up, and a mask tells which rows are real."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch

from tpulint_runtime.collate import Buckets, Collate, Padding, PadToMultiple
from tpulint_runtime.fill import Filling
from tpulint_runtime.nested import Path, is_column, is_leaf, items, leaves, rebuild, show
from tpulint_runtime.settings import check_function, check_number, checked_count


class PadLastBatch:
    """Fills up a batch that has too few samples, such as the last one of an epoch, to ``batch_size`` rows.

    batch_size
        Rows of every batch, at least 1. Or rows by padded length, such as ``{64: 32, 512: 4}``, with a padding of
        :mod:`tpulint_runtime.collate` as ``collate``: what :attr:`BucketBatchSampler.rows` says. Where tensors of a
        batch are padded to several lengths, the longest counts.
    value, values
        What to fill with; by default the last sample is repeated, which every model can compute. ``values`` by name, as
        with :class:`PadToMultiple`: with ``{"labels": -100}`` a mean cross entropy counts the real rows alone. Lists of
        other things than tensors take a text or number of ``values``, else their last entry again.
    only
        Names of what to fill up; by default all but tensors without dimensions.
    collate
        The collate function to run first; by default samples are stacked as ``default_collate`` does, but every
        container keeps its type, and may be a dataclass.

    Tensors ``(n, *)`` of ``n`` samples become ``(batch_size, *)``, of the same dtype, and so do lists and tuples of
    ``n`` texts, numbers or other things without tensors in them; everything else stays. The mask
    has shape ``(batch_size,)``, dtype bool, True for real rows: leave the others out of losses and metrics. Around a
    padding of this module the result is ``((batch, mask), rows)``, and ``mask`` is False in rows that are not real.
    Layers that compute over the whole batch, such as batch normalisation in training, see the filled rows.

    Raises ValueError for more samples than ``batch_size``, for a tensor with another number of rows, and for NumPy
    arrays, which are not filled up (name the others in ``only``), for a name that the batch does not have, and for a
    value that the dtype cannot hold. The constructor refuses settings that cannot be, with TypeError or
    ValueError: rows by length that lack a length of :class:`Buckets`, too.
    """

    def __init__(
        self,
        batch_size: int | Mapping[int, int],
        *,
        value: float | None = None,
        values: Mapping[Any, float] | None = None,
        only: Collection[Any] | None = None,
        collate: Collate | None = None,
    ) -> None:
        if value is not None:
            check_number("value", value)
        if collate is not None:
            check_function("collate", collate, "a list of samples")
        self.batch_size = _checked_rows(batch_size, collate)
        self.value = value
        self.collate = _stack if collate is None else collate
        self._filling = Filling(only, values, has_texts=True)

    def __call__(self, samples: list[Any]) -> tuple[Any, torch.Tensor]:
        """The batch and the mask of its rows. See the class for shapes."""
        if not samples:
            raise ValueError("no samples")
        batch = self.collate(samples)
        mask = None
        if isinstance(self.collate, Padding):
            batch, mask = batch
        batch = _with_columns(batch, len(samples))
        self._filling.check_names(batch)
        size = self._size(mask)
        if len(samples) > size:
            raise ValueError(f"{len(samples)} samples for a batch of {size}")
        rows = torch.arange(size) < len(samples)
        batch = self._fill(batch, len(samples), size, ())
        return ((batch, _fill_mask(mask, size)), rows) if isinstance(self.collate, Padding) else (batch, rows)

    def _size(self, mask: Any) -> int:
        """Rows of a batch whose padded tensors have these masks."""
        if isinstance(self.batch_size, int):
            return self.batch_size
        length = max((int(leaf.size(1)) for _, leaf in leaves(mask) if leaf is not None), default=None)
        if length not in self.batch_size:
            raise ValueError(f"batch_size has no rows for length {length}: it has {[*self.batch_size]}")
        return self.batch_size[length]

    def _fill(self, batch: Any, count: int, size: int, path: Path) -> Any:
        if not is_leaf(batch):
            return rebuild(batch, [self._fill(child, count, size, (*path, key)) for key, child in items(batch)])
        if isinstance(batch, _Column):
            return self._filling.repeat(batch.entries, size - count, path)
        is_array = not isinstance(batch, torch.Tensor) and getattr(batch, "shape", ())[:1] == (count,)
        if is_array and self._filling.includes(path):
            raise ValueError(f"{show(path)} is a {type(batch).__name__}: make it a tensor, or name the others in only")
        if not isinstance(batch, torch.Tensor) or batch.dim() == 0 or not self._filling.includes(path):
            return batch
        if int(batch.size(0)) != count:
            raise ValueError(f"{show(path)} has {int(batch.size(0))} rows for {count} samples")
        return self._filling.extend(batch, 0, size - count, path, self.value) if size > count else batch


class _Column:
    """A list or tuple that is one part of a batch."""

    def __init__(self, entries: list[Any] | tuple[Any, ...]) -> None:
        self.entries = entries


def _with_columns(batch: Any, count: int) -> Any:
    """``batch`` of so many samples, its columns marked."""
    if is_leaf(batch):
        return batch
    if is_column(batch, count):
        return _Column(batch)
    return rebuild(batch, [_with_columns(child, count) for _, child in items(batch)])


def _checked_rows(given: Any, collate: Collate | None) -> int | dict[int, int]:
    """Rows of a batch, or rows by length. Raises TypeError and ValueError for what cannot be."""
    if not isinstance(given, Mapping):
        return checked_count("batch_size", given, 1)
    if not isinstance(collate, Padding):
        raise ValueError("rows by length need a padding as collate, which chooses the length")
    rows = {
        checked_count("a length of batch_size", length, 1): checked_count(f"batch_size[{length!r}]", number, 1)
        for length, number in given.items()
    }
    if not rows:
        raise ValueError("batch_size has no rows for any length")
    for length in collate.sizes if isinstance(collate, Buckets) else ():
        if length not in rows:
            raise ValueError(f"batch_size has no rows for length {length}: it has {[*rows]}")
    return rows


def _stack(samples: list[Any]) -> Any:
    batch, _ = PadToMultiple(1, only=())(samples)
    return batch


def _fill_mask(mask: Any, size: int) -> Any:
    if not is_leaf(mask):
        return rebuild(mask, [_fill_mask(child, size) for _, child in items(mask)])
    if mask is None:
        return None
    return torch.cat([mask, mask.new_zeros((size - int(mask.size(0)), int(mask.size(1))))])
