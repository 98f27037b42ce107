"""Batches of an epoch: each sample once, the same order again, divided among processes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset
from tpulint_runtime import EpochBatchSampler

pytestmark = pytest.mark.xla  # where torch is, torch_xla is


def test_every_sample_comes_once_in_another_order_each_epoch() -> None:
    sampler = EpochBatchSampler(range(20), 4, seed=1)
    epochs = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        batches = list(sampler)
        assert [len(batch) for batch in batches] == [4] * 5 and len(sampler) == 5
        epochs.append([index for batch in batches for index in batch])
        assert sorted(epochs[-1]) == list(range(20))
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    sampler.set_epoch(0)
    assert [index for batch in sampler for index in batch] == epochs[0]


@pytest.mark.parametrize("workers", [0, 2])
def test_position_is_that_of_the_training_not_of_loaders_that_fetch_ahead(workers: int) -> None:
    def loader(sampler: EpochBatchSampler) -> DataLoader[int]:
        return DataLoader(range(22), batch_sampler=sampler, generator=sampler.generator, num_workers=workers)  # type: ignore[arg-type]

    expected = [batch.tolist() for batch in loader(EpochBatchSampler(22, 4, drop_last=False))]
    assert len(expected) == 6 and len(expected[-1]) == 2
    stopped = EpochBatchSampler(22, 4, drop_last=False)
    batches = iter(loader(stopped))
    seen = [next(batches).tolist() for _ in range(2)]
    state = stopped.state_dict(done=2)
    going_on = EpochBatchSampler(22, 4, drop_last=False)
    going_on.load_state_dict(state)
    assert seen + [batch.tolist() for batch in loader(going_on)] == expected
    going_on.set_epoch(1)
    assert len(list(going_on)) == 6, "the position is of one epoch"


def test_epoch_that_is_done_has_nothing_left() -> None:
    sampler = EpochBatchSampler(8, 4)
    sampler.load_state_dict(sampler.state_dict(done=2))
    assert list(sampler) == []
    sampler.set_epoch(1)
    assert len(list(sampler)) == 2


@pytest.mark.parametrize(("samples", "drop_last"), [(22, True), (22, False), (24, False), (3, False), (1, False)])
def test_processes_share_an_epoch(samples: int, drop_last: bool) -> None:
    shares = [list(EpochBatchSampler(samples, 3, num_replicas=4, rank=rank, drop_last=drop_last)) for rank in range(4)]
    lengths = [[len(batch) for batch in share] for share in shares]
    assert lengths[0] == lengths[1] == lengths[2] == lengths[3] and min(lengths[0]) >= 1
    seen = [index for share in shares for batch in share for index in batch]
    if drop_last:
        assert len(seen) == len(set(seen)) == samples // 12 * 12
    else:
        assert set(seen) == set(range(samples)) and len(seen) < samples + 4


def test_own_generator_leaves_torch_random_numbers_alone() -> None:
    sampler = EpochBatchSampler(8, 4)
    before = torch.get_rng_state()
    list(DataLoader(range(8), batch_sampler=sampler, generator=sampler.generator))  # type: ignore[arg-type]
    assert torch.equal(torch.get_rng_state(), before)
    list(DataLoader(range(8), batch_sampler=sampler))  # type: ignore[arg-type]
    assert not torch.equal(torch.get_rng_state(), before), "then the advice to give a generator has no reason any more"


class Drawn(Dataset[tuple[float, float, float]]):
    def __getitem__(self, place: int) -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), torch.rand(()).item()

    def __len__(self) -> int:
        return 12


def test_what_workers_draw_is_of_the_batch_not_of_the_worker() -> None:
    def epochs(workers: int, rank: int = 0, **settings: Any) -> list[list[list[float]]]:
        sampler = EpochBatchSampler(12, 2, num_replicas=2, rank=rank)
        loader: Any = DataLoader(Drawn(), batch_sampler=sampler, num_workers=workers, **settings)
        drawn = []
        for epoch in range(2):
            sampler.set_epoch(epoch)
            drawn.append([[*map(float, column)] for batch in loader for column in batch])
        return drawn

    first = epochs(2)
    assert epochs(1, persistent_workers=True) == first
    every = [value for drawn in (first, epochs(1, rank=1)) for epoch in drawn for column in epoch for value in column]
    assert len(set(every)) == len(every) == 2 * 2 * 3 * 3 * 2, "no two are alike, of any batch, epoch or process"
    random.seed(1)
    before = random.getstate()
    sampler = EpochBatchSampler(12, 4, shuffle=False)
    loader: Any = DataLoader(Drawn(), batch_sampler=sampler, num_workers=1)
    twice = [[[*map(float, column)] for batch in loader for column in batch] for _ in range(2)]
    assert twice[0] != twice[1], "also where nobody tells the epoch"
    assert epochs(0) != first and random.getstate() != before, "here it is the process that draws, and is not seeded"


def test_wrong_arguments_and_states_are_named() -> None:
    with pytest.raises(ValueError, match="rank is 2 of 2"):
        EpochBatchSampler(8, 2, num_replicas=2, rank=2)
    with pytest.raises(ValueError, match="3 samples are no batch of 4 for 1 processes"):
        EpochBatchSampler(3, 4)
    with pytest.raises(ValueError, match="batch_size is 0"):
        EpochBatchSampler(3, 0)
    with pytest.raises(ValueError, match="the state has batch_size 2, this sampler 4"):
        EpochBatchSampler(8, 4).load_state_dict(EpochBatchSampler(8, 2).state_dict())
    with pytest.raises(ValueError, match="3 of 2 batches"):
        EpochBatchSampler(8, 4).state_dict(done=3)
