"""Which lengths to pad to: the few that leave the least padding, for the lengths a data set really has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tpulint_runtime.settings import checked_count, checked_sizes


@dataclass(frozen=True, slots=True)
class BucketPlan:
    """Lengths to pad to, and what they cost on the data they were chosen for. All numbers are of one epoch in which
    every sample is padded to the smallest size that holds it, as :class:`BucketBatchSampler` makes batches. Random
    batches are padded to the bucket of their longest sample, which costs more."""

    sizes: tuple[int, ...]
    """The lengths, ascending: one shape each. For :class:`Buckets` and :class:`BucketBatchSampler`."""
    counts: tuple[int, ...]
    """Samples in each bucket."""
    tokens: int
    """Entries of all samples (tokens, frames), without padding. What is cut off does not count."""
    cut: int
    """Samples that are longer than the largest size, and lose their end."""

    @property
    def samples(self) -> int:
        """All samples."""
        return sum(self.counts)

    @property
    def padded(self) -> int:
        """Entries after padding."""
        return sum(size * count for size, count in zip(self.sizes, self.counts, strict=True))

    @property
    def waste(self) -> float:
        """Share of the entries after padding that are padding: from 0 (none) to 1."""
        return 1 - self.tokens / self.padded

    def rows(self, entries: int, multiple: int = 1) -> dict[int, int]:
        """Rows of a batch by size, so that a batch has at most ``entries`` entries, and so about the same work whatever
        its bucket: for :class:`BucketBatchSampler` and :class:`PadLastBatch`. ``multiple``: of how many rows.

        Raises ValueError if the largest size does not fit, TypeError for what is no whole number."""
        entries, multiple = checked_count("entries", entries, 1), checked_count("multiple", multiple, 1)
        rows = {size: entries // size // multiple * multiple for size in self.sizes}
        if rows[self.sizes[-1]] < 1:
            raise ValueError(f"{multiple} rows of {self.sizes[-1]} are more than {entries} entries")
        return rows

    def __str__(self) -> str:
        shapes = f"{len(self.sizes)} shape{'s' if len(self.sizes) > 1 else ''}"
        cut = f", {self.cut} of {self.samples} samples cut" if self.cut else ""
        return f"{shapes} {[*self.sizes]}: {self.waste:.1%} of {self.padded} entries are padding{cut}"


def count_lengths(lengths: Iterable[int] | Mapping[int, int], longest: int | None = None) -> Counter[int]:
    """Samples by length. ``longest`` cuts what is longer.

    Raises ValueError if there are none, or one is less than 0."""
    counts: Counter[int] = Counter()
    for length, count in (lengths if isinstance(lengths, Mapping) else Counter(lengths)).items():
        if length < 0 or count < 0:
            raise ValueError(f"{count} samples of length {length}")
        if count:
            counts[int(length if longest is None else min(length, longest))] += int(count)
    if not counts:
        raise ValueError("no lengths")
    return counts


def measure_buckets(sizes: Iterable[int], lengths: Iterable[int] | Mapping[int, int]) -> BucketPlan:
    """What given sizes cost: see :class:`BucketPlan`. Sizes that no sample needs stay, with a count of 0.

    Raises ValueError for no sizes, a size less than 1, or no lengths."""
    ordered = checked_sizes(sizes)
    counts = count_lengths(lengths)
    held, cut, tokens, bucket = [0] * len(ordered), 0, 0, 0
    for length in sorted(counts):
        while length > ordered[bucket] and bucket < len(ordered) - 1:
            bucket += 1
        held[bucket] += counts[length]
        tokens += counts[length] * min(length, ordered[-1])
        cut += counts[length] if length > ordered[-1] else 0
    return BucketPlan(ordered, tuple(held), tokens, cut)


def plan_buckets(
    lengths: Iterable[int] | Mapping[int, int], count: int, *, multiple: int = 1, longest: int | None = None
) -> BucketPlan:
    """The at most ``count`` lengths that leave the fewest padded entries. This is exact, not a heuristic.

    lengths
        The length of every sample, or how many samples there are of each length.
    count
        Shapes there may be, at least 1: each is compiled once.
    multiple
        What every length is to be a multiple of, such as 8 or 128, which are the sides of a TPU's registers.
    longest
        Cut longer samples to this length, with ``overflow="truncate"``; by default the longest sample is held. It is
        rounded up to ``multiple``, as every length is.

    Takes time in proportion to ``count`` times the different lengths.

    Raises ValueError for a ``count``, ``multiple`` or ``longest`` less than 1, a length less than 0, or no lengths.
    """
    count, multiple = checked_count("count", count, 1), checked_count("multiple", multiple, 1)
    known = count_lengths(lengths)
    limit = None if longest is None else -(-checked_count("longest", longest, 1) // multiple) * multiple
    rounded: Counter[int] = Counter()
    for length, samples in count_lengths(known, limit).items():
        rounded[max(1, -(-length // multiple)) * multiple] += samples
    return measure_buckets(_best(rounded, count), known)


def _best(counts: Mapping[int, int], count: int) -> list[int]:
    """The sizes, of at most ``count`` among the keys of ``counts``, with the smallest sum over all samples."""
    sizes = sorted(counts)
    held = [0]  # held[i]: samples in the first i sizes
    for size in sizes:
        held.append(held[-1] + counts[size])
    # cost[j]: of the first j sizes with the shapes so far. One more shape, of size e, for all from i to j - 1 costs
    # cost[i] + e * (held[j] - held[i]). For a given i that is a line over e, with slope -held[i]. Slopes fall with i
    # and e grows with j, so the best i is found by moving along the lower hull of the lines: no search among all i.
    cost: list[int] = [0, *(size * samples for size, samples in zip(sizes, held[1:], strict=True))]
    choices: list[list[int]] = []
    for _ in range(1, min(count, len(sizes))):
        hull: list[int] = []
        at, best, chosen = 0, [0], [0]
        for j in range(1, len(sizes) + 1):
            _add_line(hull, j - 1, held, cost)
            at, size = min(at, len(hull) - 1), sizes[j - 1]
            while at + 1 < len(hull):
                here, ahead = hull[at], hull[at + 1]
                if cost[ahead] - held[ahead] * size > cost[here] - held[here] * size:
                    break
                at += 1
            start = hull[at]
            chosen.append(start)
            best.append(cost[start] + size * (held[j] - held[start]))
        choices.append(chosen)
        cost = best
    result, end = [], len(sizes)
    for chosen in [*reversed(choices), [0] * (len(sizes) + 1)]:
        if end:
            result.append(sizes[end - 1])
            end = chosen[end]
    return sorted(result)


def _add_line(hull: list[int], new: int, held: list[int], cost: list[int]) -> None:
    """Adds the line ``cost[new] - held[new] * e``, and drops those that are no longer lowest anywhere."""
    while len(hull) >= 2:
        first, second = hull[-2], hull[-1]
        # Where second crosses first, and where new does: in whole numbers, so exactly.
        second_crosses = (cost[second] - cost[first]) * (held[new] - held[first])
        new_crosses = (cost[new] - cost[first]) * (held[second] - held[first])
        if second_crosses < new_crosses:
            break
        hull.pop()
    hull.append(new)
