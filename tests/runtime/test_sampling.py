"""Batches by bucket: nothing is lost, all processes run the same shapes, and an epoch can be continued."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader
from tpulint_runtime import BucketBatchSampler, Buckets, PadLastBatch, plan_buckets

pytestmark = pytest.mark.xla  # where torch is, torch_xla is

SIZES = (8, 16, 32)
lengths_of_samples = st.lists(st.integers(0, 32), min_size=1, max_size=120)
settings_of_samplers = st.fixed_dictionaries(
    {
        "batch_size": st.integers(1, 5) | st.sampled_from([{8: 6, 16: 3, 32: 1}, {8: 2, 16: 5, 32: 4}]),
        "shuffle": st.booleans(),
        "seed": st.integers(0, 2**64),
    }
)


def bucket(length: int) -> int:
    return min(size for size in SIZES if size >= length)


def processes(lengths: list[int], count: int, epoch: int = 0, **settings: Any) -> list[list[list[int]]]:
    """The batches of each process."""
    samplers = [BucketBatchSampler(lengths, SIZES, num_replicas=count, rank=rank, **settings) for rank in range(count)]
    for sampler in samplers:
        sampler.set_epoch(epoch)
    made = [list(sampler) for sampler in samplers]
    assert {len(batches) for batches in made} == {len(sampler) for sampler in samplers} == {len(made[0])}
    return made


@given(lengths_of_samples, settings_of_samplers, st.integers(1, 4), st.sampled_from(["short", "repeat"]))
def test_every_sample_comes_and_all_processes_have_the_same_bucket(
    lengths: list[int], settings: dict[str, Any], count: int, last: str
) -> None:
    made = processes(lengths, count, last=last, **settings)
    rows = BucketBatchSampler(lengths, SIZES, settings["batch_size"]).rows
    for step in zip(*made, strict=True):
        sizes = {bucket(lengths[index]) for batch in step for index in batch}
        assert len(sizes) == 1 and all(step), "two buckets in a step, or a process without a sample"
        full = rows[sizes.pop()]
        assert all(len(batch) <= full for batch in step)
        assert last == "short" or all(len(batch) == full for batch in step)
    seen = Counter(index for batches in made for batch in batches for index in batch)
    assert set(seen) == set(range(len(lengths)))
    held = Counter(map(bucket, lengths))
    if last == "short":
        for index, times in seen.items():
            size = bucket(lengths[index])
            may_repeat = count > 1 and (rows[size] == 1 or held[size] < count)
            assert times == 1 or may_repeat
    assert sum(seen.values()) - len(lengths) <= sum(max(count * rows[size], count) for size in held)


@pytest.mark.parametrize("samples", range(3, 30))
def test_no_sample_comes_twice_where_there_are_enough_for_all(samples: int) -> None:
    """Of three processes with batches of two: 7 samples are 6 and 1, and two processes would have nothing."""
    made = processes([5] * samples, 3, batch_size=2)
    assert sorted(index for batches in made for batch in batches for index in batch) == [*range(samples)]
    assert all(1 <= len(batch) <= 2 for batches in made for batch in batches)


@given(lengths_of_samples, st.integers(1, 4), st.integers(1, 3))
def test_dropping_leaves_full_batches(lengths: list[int], batch_size: int, count: int) -> None:
    held = Counter(map(bucket, lengths))
    if min(held.values()) < batch_size * count:
        with pytest.raises(ValueError, match="no epoch would have them"):
            processes(lengths, count, batch_size=batch_size, last="drop")
        return
    made = processes(lengths, count, batch_size=batch_size, last="drop")
    indices = [index for batches in made for batch in batches for index in batch]
    assert len(indices) == len(set(indices))
    assert {len(batch) for batches in made for batch in batches} == {batch_size}
    assert len(made[0]) == sum(samples // (batch_size * count) for samples in held.values())


@given(lengths_of_samples, settings_of_samplers, st.integers(0, 5), st.data())
def test_epoch_is_continued_where_it_stood(
    lengths: list[int], settings: dict[str, Any], epoch: int, data: st.DataObject
) -> None:
    sampler = BucketBatchSampler(lengths, SIZES, **settings)
    sampler.set_epoch(epoch)
    whole = list(sampler)
    done = data.draw(st.integers(0, len(whole)))
    batches = iter(sampler)
    for _ in range(done):
        next(batches)
    state = json.loads(json.dumps(sampler.state_dict()))
    assert (state["epoch"], state["position"]) == (epoch, done)
    assert state == sampler.state_dict(done)
    again = BucketBatchSampler(lengths, SIZES, **settings)
    again.load_state_dict(state)
    again.set_epoch(epoch)
    assert again.state_dict() == state
    assert list(again) == whole[done:] and len(again) == len(whole)
    assert list(again) == whole, "the position is for one iteration"
    again.load_state_dict(state)
    again.set_epoch(epoch + 1)
    sampler.set_epoch(epoch + 1)
    assert list(again) == list(sampler), "the position is of another epoch"


def test_orders_differ_by_epoch_and_seed_only() -> None:
    lengths = [index * 7 % 33 for index in range(200)]

    def order(seed: int, epoch: int) -> list[list[int]]:
        return processes(lengths, 1, epoch, batch_size=4, seed=seed)[0]

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(0, 1) != order(1, 1) != order(1, 0)
    plain = BucketBatchSampler(lengths, SIZES, 4, shuffle=False)
    assert [lengths[index] for index in next(iter(plain))] == [0, 7, 2, 4]
    plain.set_epoch(3)
    assert list(plain) == processes(lengths, 1, batch_size=4, shuffle=False)[0]


def test_buckets_come_mixed() -> None:
    """All short ones first would be a curriculum nobody asked for."""
    lengths = [1 + index % 32 for index in range(640)]
    sizes = [bucket(lengths[batch[0]]) for batch in BucketBatchSampler(lengths, SIZES, 8)]
    assert sizes != sorted(sizes) and set(sizes[: len(sizes) // 2]) == set(SIZES)


def test_state_of_other_data_is_refused() -> None:
    state = BucketBatchSampler([1, 2, 30], SIZES, 2, seed=1).state_dict()
    for other in (
        BucketBatchSampler([1, 2, 3], SIZES, 2, seed=1),
        BucketBatchSampler([1, 2, 30], SIZES, 4, seed=1),
        BucketBatchSampler([1, 2, 30], SIZES, 2, seed=2),
        BucketBatchSampler([1, 2, 30], SIZES, 2, seed=1, num_replicas=2),
    ):
        with pytest.raises(ValueError, match="the state has"):
            other.load_state_dict(state)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_goes_on_from_the_loaded_position(workers: int) -> None:
    """One with workers makes two iterators of the sampler, and uses the second."""
    lengths = [1 + index * 5 % 31 for index in range(40)]

    def batches(sampler: BucketBatchSampler) -> list[Any]:
        loader: DataLoader[Any] = DataLoader([*range(40)], batch_sampler=sampler, num_workers=workers)  # type: ignore[arg-type]
        return [batch.tolist() for batch in loader]

    sampler = BucketBatchSampler(lengths, SIZES, 4)
    whole = batches(sampler)
    resumed = BucketBatchSampler(lengths, SIZES, 4)
    resumed.load_state_dict(sampler.state_dict(3))
    assert batches(resumed) == whole[3:] and len(whole) > 4
    assert batches(resumed) == whole


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_makes_one_shape_for_each_bucket(workers: int) -> None:
    data = [torch.arange(1, 2 + index * 5 % 31) for index in range(101)]
    lengths = [len(sample) for sample in data]
    plan = plan_buckets(lengths, 3, multiple=4)
    sampler = BucketBatchSampler(lengths, plan.sizes, plan.rows(128))
    loader = DataLoader(
        data,  # type: ignore[arg-type]
        batch_sampler=sampler,
        collate_fn=PadLastBatch(sampler.rows, collate=Buckets(plan.sizes)),
        num_workers=workers,
    )
    batches = list(loader)
    assert len(batches) == len(loader) == len(sampler)
    shapes = {tuple(ids.shape) for (ids, _), _ in batches}
    assert shapes == {(rows, size) for size, rows in plan.rows(128).items()} and len(shapes) == 3
    seen = sorted(tuple(row[kept].tolist()) for (ids, mask), _ in batches for row, kept in zip(ids, mask, strict=True))
    assert [row for row in seen if row] == sorted(tuple(sample.tolist()) for sample in data)


def test_longer_samples_are_refused_or_cut() -> None:
    with pytest.raises(ValueError, match="length 40 is longer than 32"):
        BucketBatchSampler([40, 1], SIZES, 2)
    assert sorted(BucketBatchSampler([40, 1], SIZES, 2, overflow="truncate")) == [[0], [1]]


@pytest.mark.parametrize(
    "arguments",
    [
        {"sizes": []},
        {"sizes": [0, 8]},
        {"batch_size": 0},
        {"batch_size": {8: 4}},
        {"lengths": []},
        {"last": "fill"},
        {"overflow": "cut"},
        {"num_replicas": 2, "rank": 2},
    ],
)
def test_wrong_settings_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        BucketBatchSampler(**{"lengths": [1, 9], "sizes": SIZES, "batch_size": 2, **arguments})


def test_position_must_be_within_the_epoch() -> None:
    with pytest.raises(ValueError, match="cannot be done"):
        BucketBatchSampler([1, 2], SIZES, 2).state_dict(2)
