"""Several sequences in a row of one length, instead of padding: one shape, and hardly anything left empty.

Samples are tensors of shape ``(L, *)``, or mappings from names to such tensors, all of one ``L`` within a sample, at
least 1. A packed row of length ``P`` is a mapping of the same names (``input_ids`` for a sample that is a tensor), each
of shape ``(P, *)`` and its own dtype, and of two more:

``segment_ids``
    ``(P,)``, int64: the number of the sequence in its row, from 1; 0 in padding.
``position_ids``
    ``(P,)``, int64: the position in the sequence, from 0; 0 in padding.

Rows are stacked by the ``DataLoader`` as samples are: ``collate_fn`` is the default one. What a model needs besides is
made from ``segment_ids`` on the device: see :mod:`tpulint_runtime.segments`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from tpulint_runtime.fill import Filling
from tpulint_runtime.settings import check_number, checked_count


def plan_rows(lengths: Sequence[int], length: int) -> list[list[int]]:
    """Which sequences go into which row of ``length``: their indices, by first fit decreasing. No sequence is cut, and
    there are at most 11/9 of the fewest possible rows, and one more.

    Takes time in proportion to ``n log n``. Raises ValueError for a sequence less than 1 or more than ``length`` long.
    """
    length = checked_count("length", length, 1)
    if not len(lengths):
        return []
    leaves = 1 << (len(lengths) - 1).bit_length()
    # A tree over rows: each node knows the largest space below it, so the first row with enough is found from the top.
    space = [length] * (2 * leaves)
    rows: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        needed = int(lengths[index])
        _check_fits(needed, length, index)
        node = 1
        while node < leaves:
            node *= 2
            if space[node] < needed:
                node += 1
        row = node - leaves
        if row == len(rows):
            rows.append([])
        rows[row].append(index)
        space[node] -= needed
        while node > 1:
            node //= 2
            space[node] = max(space[2 * node], space[2 * node + 1])
    return rows


class PackedDataset:
    """Rows of packed sequences of a data set with indices: planned at once, by :func:`plan_rows`.

    dataset
        Has ``dataset[index]``, a sample.
    lengths
        The length of every sample, in the order of the data set.
    length
        Of every row; no sample may be longer.
    value, values
        What to fill with; ``values`` by name, such as ``{"labels": -100}``.

    ``len`` is the number of rows; a row is made when it is asked for, so any sampler and any number of loader workers
    may be used. Which samples share a row stays the same in all epochs.

    Raises ValueError for a sample that is too long, empty, or not as long as ``lengths`` said, for tensors of different
    lengths in a sample, and for samples that differ in names.
    """

    def __init__(
        self,
        dataset: Any,
        lengths: Sequence[int],
        length: int,
        *,
        value: float = 0,
        values: Mapping[str, float] | None = None,
    ) -> None:
        check_number("value", value)
        self.dataset = dataset
        self.length = checked_count("length", length, 1)
        self.rows = plan_rows(lengths, self.length)
        """The indices of the samples in each row."""
        self.value = value
        self.tokens = sum(int(item) for item in lengths)
        """Entries of all samples, without padding."""
        self._filling = Filling(None, values)

    @property
    def waste(self) -> float:
        """Share of all rows that is padding: from 0 (none) to 1."""
        return 1 - self.tokens / (self.length * len(self.rows)) if self.rows else 0.0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> dict[str, torch.Tensor]:
        """The row, packed."""
        return _pack([self.dataset[index] for index in self.rows[row]], self.length, self._filling, self.value)


class PackedStream(IterableDataset[dict[str, torch.Tensor]]):  # type: ignore[misc, unused-ignore]
    """Rows of packed sequences of a stream: each goes into the first of a few open rows that has space for it. When
    there is none, the fullest row is handed out and a new one opened. What is in open rows at the end is packed anew.

    samples
        Iterated anew for each epoch, in every loader worker: if there are several, each takes its share of the samples
        by number, unless ``shard`` is False, because ``samples`` sees to it itself.
    length, value, values
        As with :class:`PackedDataset`.
    open_rows
        How many rows are open at a time, at least 1: more waste less, hold more samples back, and mix their order more.

    The number of rows is not known before, so the last batch may be short: :class:`PadLastBatch`, with labels of -100
    or its mask, or ``drop_last``.

    Raises ValueError as :class:`PackedDataset` does.
    """

    def __init__(
        self,
        samples: Iterable[Any],
        length: int,
        *,
        open_rows: int = 16,
        shard: bool = True,
        value: float = 0,
        values: Mapping[str, float] | None = None,
    ) -> None:
        check_number("value", value)
        self.samples = samples
        self.length = checked_count("length", length, 1)
        self.open_rows = checked_count("open_rows", open_rows, 1)
        self.shard = shard
        self.value = value
        self._filling = Filling(None, values)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        worker = get_worker_info() if self.shard else None
        rows: list[list[Any]] = []
        used: list[int] = []
        for number, sample in enumerate(self.samples):
            if worker is not None and number % worker.num_workers != worker.id:
                continue
            needed = _length(sample)
            _check_fits(needed, self.length, number)
            row = next((row for row, taken in enumerate(used) if taken + needed <= self.length), None)
            if row is None and len(rows) == self.open_rows:
                fullest = max(range(len(rows)), key=used.__getitem__)
                used.pop(fullest)
                yield self._close(rows.pop(fullest))
            if row is None:
                row = len(rows)
                rows.append([])
                used.append(0)
            rows[row].append(sample)
            used[row] += needed
            if used[row] == self.length:
                used.pop(row)
                yield self._close(rows.pop(row))
        left = [sample for samples in rows for sample in samples]
        for indices in plan_rows([_length(sample) for sample in left], self.length):
            yield self._close([left[index] for index in indices])

    def _close(self, samples: list[Any]) -> dict[str, torch.Tensor]:
        return _pack(samples, self.length, self._filling, self.value)


def _named(sample: Any) -> Mapping[str, Any]:
    return sample if isinstance(sample, Mapping) else {"input_ids": sample}


def _length(sample: Any) -> int:
    """How long the sample is: all of its tensors."""
    shapes = {name: tuple(getattr(value, "shape", ())) for name, value in _named(sample).items()}
    lengths = {shape[0] if shape else None for shape in shapes.values()}
    if len(lengths) != 1 or None in lengths:
        raise ValueError(f"tensors of a sample to be packed must have one length: {shapes}")
    return int(lengths.pop())  # type: ignore[arg-type]


def _check_fits(needed: int, length: int, number: int) -> None:
    if not 1 <= needed <= length:
        raise ValueError(f"sample {number} has length {needed}: rows take 1 to {length}")


def _pack(samples: Sequence[Any], length: int, filling: Filling, value: float) -> dict[str, torch.Tensor]:
    """One row."""
    named = [_named(sample) for sample in samples]
    for sample in named:
        if sample.keys() != named[0].keys():
            raise ValueError(f"samples differ in what they hold: {[*named[0]]} and {[*sample]}")
    filling.check_names(dict.fromkeys(named[0]))
    if taken := {"segment_ids", "position_ids"} & named[0].keys():
        raise ValueError(f"samples have {sorted(taken)} of their own, which packing makes")
    lengths = [_length(sample) for sample in named]
    missing = length - sum(lengths)
    if missing < 0:
        raise ValueError(f"samples of lengths {lengths} do not fit into {length}: they are not what was planned for")
    row = {}
    for name in named[0]:
        joined = torch.cat([torch.as_tensor(sample[name]) for sample in named])
        row[name] = filling.extend(joined, 0, missing, (name,), value) if missing else joined
    rest = torch.zeros(missing, dtype=torch.int64)
    row["segment_ids"] = torch.cat([*(torch.full((n,), k) for k, n in enumerate(lengths, start=1)), rest])
    row["position_ids"] = torch.cat([*(torch.arange(n) for n in lengths), rest])
    return row
