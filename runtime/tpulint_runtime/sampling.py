"""Batches whose samples go into one bucket, in an order that can be continued and divided among processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import torch

from tpulint_runtime.positions import EpochPosition
from tpulint_runtime.settings import checked_sizes, checked_whole

Last = Literal["short", "repeat", "drop"]


class BucketBatchSampler(EpochPosition):
    """Batches of indices for ``DataLoader(batch_sampler=...)``: all samples of a batch fit into the same bucket.

    lengths
        The length of every sample of the data set, in its order.
    sizes
        The lengths that batches are padded to: those of :class:`Buckets`, such as ``BucketPlan.sizes``.
    batch_size
        Rows of a batch of one process; or rows by size, such as ``BucketPlan.rows(16384)``: then :class:`PadLastBatch`
        is given :attr:`rows`.
    last
        What to do with the batch of each bucket that is not full, one an epoch at most. ``short``: it comes as it is,
        for :class:`PadLastBatch`; every sample comes exactly once. ``repeat``: it is filled up with samples of its
        bucket, which then count twice. ``drop``: it is left out.
    shuffle, seed
        Whether samples and batches come in a random order, another one each epoch: call :meth:`set_epoch`. The order
        depends on ``seed``, the epoch and the arguments above, and on nothing else. So do the random numbers that
        workers of the loader draw, as with :class:`EpochBatchSampler`.
    num_replicas, rank
        Processes that train together, and which of them this is. Each gets the same number of batches, and in each step
        all of them get the same bucket, so that they run the same graph.
    overflow
        For a sample longer than all sizes: ``error`` raises ValueError, ``truncate`` puts it into the largest bucket,
        where ``Buckets(overflow="truncate")`` cuts its end off.

    With ``short`` and several processes, each has a real row in every step: where too few samples are left, the step
    before hands over some of its own. Only in a bucket with fewer samples than processes, or with ``batch_size`` 1, are
    samples repeated for that.

    Raises TypeError and ValueError for arguments that cannot be, ValueError with ``drop`` for a bucket that has some
    samples, but fewer than a batch: no epoch would have them.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        sizes: Iterable[int],
        batch_size: int | Mapping[int, int],
        *,
        last: Last = "short",
        shuffle: bool = True,
        seed: int = 0,
        num_replicas: int = 1,
        rank: int = 0,
        overflow: Literal["error", "truncate"] = "error",
    ) -> None:
        super().__init__(seed, num_replicas, rank)
        self.sizes = checked_sizes(sizes)
        by_size = batch_size if isinstance(batch_size, Mapping) else dict.fromkeys(self.sizes, batch_size)
        self.rows = {size: checked_whole("batch_size", by_size.get(size, 0)) for size in self.sizes}
        """Rows of a full batch of this process, by padded length."""
        if min(self.rows.values()) < 1:
            raise ValueError(f"batch_size is {batch_size}: give at least 1 for each of {self.sizes}")
        if last not in ("short", "repeat", "drop"):
            raise ValueError(f"last is {last!r}, not short, repeat or drop")
        if overflow not in ("error", "truncate"):
            raise ValueError(f"overflow is {overflow!r}, not error or truncate")
        if not len(lengths):
            raise ValueError("no lengths")
        self.batch_size = max(self.rows.values())
        self.last = last
        self.shuffle = shuffle
        self._buckets = self._assign(lengths, overflow)
        for size, bucket in zip(self.sizes, self._buckets, strict=True):
            width = self.rows[size] * self.num_replicas
            if last == "drop" and 0 < len(bucket) < width:
                raise ValueError(
                    f"bucket {size} has {len(bucket)} samples for batches of {width} (all processes): with drop, no "
                    "epoch would have them; take fewer sizes, or short"
                )
        self._steps = len(self._cut(self._buckets))

    @property
    def drop_last(self) -> bool:
        """Whether the last batch is left out if it is not full."""
        return self.last == "drop"

    def __len__(self) -> int:
        """Batches of a whole epoch, of this process; the same for each."""
        return self._steps

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of the epoch that :meth:`set_epoch` chose, from the loaded position on."""
        self._handed = self._start
        return self._hand_out()

    def _hand_out(self) -> Iterator[list[int]]:
        # Not before the first batch is asked for: a loader with workers makes two iterators, and uses the second.
        start, self._start, self._handed = self._start, 0, self._start
        order, generator = self._order()
        steps = self._cut(order)
        if self.shuffle:
            steps = [steps[place] for place in torch.randperm(len(steps), generator=generator).tolist()]
        yield from self._share(steps[start:], start)

    def _identity(self) -> dict[str, Any]:
        """What the order depends on."""
        return {
            "samples": [len(bucket) for bucket in self._buckets],
            "rows": [[size, rows] for size, rows in self.rows.items()],
            "last": self.last,
            "shuffle": self.shuffle,
            "seed": self.seed,
            "num_replicas": self.num_replicas,
        }

    def _assign(self, lengths: Sequence[int], overflow: str) -> list[torch.Tensor]:
        """Indices of the samples of each bucket, ascending."""
        known = torch.as_tensor(lengths, dtype=torch.int64)
        longest = int(known.max())
        if int(known.min()) < 0:
            raise ValueError(f"a sample has length {int(known.min())}")
        if longest > self.sizes[-1] and overflow == "error":
            raise ValueError(f"a sample of length {longest} is longer than {self.sizes[-1]}")
        buckets = torch.bucketize(known.clamp(max=self.sizes[-1]), torch.tensor(self.sizes))
        return [torch.nonzero(buckets == number).flatten() for number in range(len(self.sizes))]

    def _order(self) -> tuple[list[torch.Tensor], torch.Generator]:
        """The samples of each bucket in the order of the epoch, and the generator for what is drawn next."""
        generator = self._epoch_generator()
        if not self.shuffle:
            return self._buckets, generator
        return [bucket[torch.randperm(len(bucket), generator=generator)] for bucket in self._buckets], generator

    def _cut(self, order: list[torch.Tensor]) -> list[torch.Tensor]:
        """The samples of each step, of all processes together, bucket by bucket."""
        steps: list[torch.Tensor] = []
        for size, samples in zip(self.sizes, order, strict=True):
            width = self.rows[size] * self.num_replicas
            full = len(samples) // width * width
            own = [*samples[:full].view(-1, width).unbind()]
            rest = samples[full:]
            if len(rest) and self.last == "repeat":
                own.append(torch.cat([rest, _repeat(samples, width - len(rest))]))
            elif len(rest) and self.last == "short":
                missing = max(0, self.num_replicas - len(rest))
                if missing and own and self.rows[size] > 1:
                    rest = torch.cat([rest, own[-1][width - missing :]])
                    own[-1] = own[-1][: width - missing]
                own.append(torch.cat([rest, _repeat(samples, max(0, self.num_replicas - len(rest)))]))
            steps += own
        return steps


def _repeat(samples: torch.Tensor, count: int) -> torch.Tensor:
    """``count`` samples, from the first on and round again."""
    return samples.repeat(-(-count // len(samples)))[:count]
