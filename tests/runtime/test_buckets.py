"""Bucket plans: exactly the best there is, and told truly."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from counted_work import growth
from hypothesis import given
from hypothesis import strategies as st
from tpulint_runtime import BucketPlan, Buckets, measure_buckets, plan_buckets

pytestmark = pytest.mark.xla  # where torch is, torch_xla is

lengths_of_samples = st.lists(st.integers(0, 40), min_size=1, max_size=30)


def padded(sizes: tuple[int, ...], lengths: list[int]) -> int:
    return sum(min(size for size in sizes if size >= length) for length in lengths)


def best(lengths: list[int], count: int, multiple: int) -> int:
    """The fewest entries, by trying every choice of sizes."""
    candidates = sorted({max(1, -(-length // multiple)) * multiple for length in lengths})
    return min(
        padded((*chosen, candidates[-1]), lengths)
        for shapes in range(min(count, len(candidates)))
        for chosen in itertools.combinations(candidates[:-1], shapes)
    )


@given(st.lists(st.integers(0, 24), min_size=1, max_size=30), st.integers(1, 5), st.integers(1, 7))
def test_plan_is_the_best_there_is(lengths: list[int], count: int, multiple: int) -> None:
    plan = plan_buckets(lengths, count, multiple=multiple)
    assert 1 <= len(plan.sizes) <= count and all(size % multiple == 0 for size in plan.sizes)
    assert plan.padded == padded(plan.sizes, lengths) == best(lengths, count, multiple)


@given(lengths_of_samples, st.integers(1, 8))
def test_numbers_of_a_plan_are_those_of_the_batches(lengths: list[int], count: int) -> None:
    plan = plan_buckets(lengths, count)
    collate = Buckets(plan.sizes)
    made = Counter(collate.target(length) for length in lengths)
    assert dict(zip(plan.sizes, plan.counts, strict=True)) == made
    assert (plan.samples, plan.tokens, plan.cut) == (len(lengths), sum(lengths), 0)
    assert plan.waste == pytest.approx(1 - sum(lengths) / sum(size * times for size, times in made.items()))
    assert plan == plan_buckets(Counter(lengths), count), "a histogram says the same"


@given(lengths_of_samples, st.integers(1, 6))
def test_one_more_shape_never_costs_more(lengths: list[int], count: int) -> None:
    assert plan_buckets(lengths, count + 1).padded <= plan_buckets(lengths, count).padded
    assert plan_buckets(lengths, len(set(lengths))).padded == sum(max(1, length) for length in lengths)


@given(lengths_of_samples, st.integers(1, 6), st.integers(1, 50), st.integers(1, 9))
def test_longest_cuts_the_rest(lengths: list[int], count: int, longest: int, multiple: int) -> None:
    plan = plan_buckets(lengths, count, longest=longest, multiple=multiple)
    limit = -(-longest // multiple) * multiple
    assert plan.sizes[-1] <= limit
    assert plan.tokens == sum(min(length, limit) for length in lengths)
    assert plan.cut == sum(length > plan.sizes[-1] for length in lengths)
    assert not plan.cut or plan.sizes[-1] == limit


def test_given_sizes_are_measured() -> None:
    plan = measure_buckets([8, 4, 16], [1, 4, 5, 8, 20])
    assert plan == BucketPlan(sizes=(4, 8, 16), counts=(2, 2, 1), tokens=1 + 4 + 5 + 8 + 16, cut=1)
    assert plan.padded == 2 * 4 + 2 * 8 + 16 and plan.waste == 1 - 34 / 40
    assert str(plan) == "3 shapes [4, 8, 16]: 15.0% of 40 entries are padding, 1 of 5 samples cut"
    assert measure_buckets([8, 4], [3]).counts == (1, 0)


def test_rows_keep_batches_of_one_size() -> None:
    plan = measure_buckets([64, 100, 512], [1])
    assert plan.rows(2048) == {64: 32, 100: 20, 512: 4}
    assert plan.rows(4096, multiple=8) == {64: 64, 100: 40, 512: 8}
    with pytest.raises(ValueError, match="8 rows of 512 are more than 2048"):
        plan.rows(2048, multiple=8)


def test_work_grows_with_the_different_lengths_not_with_their_square() -> None:
    def plan(different: int) -> None:
        histogram = {length: 1 + length * 7919 % 1000 for length in range(1, different + 1)}
        assert len(plan_buckets(histogram, 16).sizes) == 16

    assert growth(plan, 500, 2_000) < 5


def test_wrong_arguments_are_refused() -> None:
    for lengths, count, multiple, longest in (
        ([1], 0, 1, None),
        ([1], 1, 0, None),
        ([1], 1, 1, 0),
        ([], 1, 1, None),
        ([-1], 1, 1, None),
    ):
        with pytest.raises(ValueError):
            plan_buckets(lengths, count, multiple=multiple, longest=longest)
    for sizes in ([], [0, 4]):
        with pytest.raises(ValueError, match="give at least one"):
            measure_buckets(sizes, [1])
