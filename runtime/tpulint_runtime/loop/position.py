"""The sampler of a loader: which epoch it is in, and whether it can continue amid one."""

from __future__ import annotations

from typing import Any

from tpulint_runtime.positions import EpochPosition


def begin_epoch(loader: Any, epoch: int, done: int) -> int:
    """Tells the epoch to the batch sampler and the sampler of a loader, where they want to know, and that so many of
    its batches are done. Returns how many it leaves out: that number, or 0 where the loader begins anew."""
    sampler: Any = getattr(loader, "batch_sampler", None)
    told: Any
    for told in (sampler, getattr(loader, "sampler", None)):
        if hasattr(told, "set_epoch"):
            told.set_epoch(epoch)
    if not done or not isinstance(sampler, EpochPosition):
        return 0
    sampler.load_state_dict(sampler.state_dict(done))
    return done


def usable_sampler(loader: Any) -> EpochPosition:
    """The batch sampler of a loader, which knows its position. Raises ValueError where there is none."""
    sampler = getattr(loader, "batch_sampler", None)
    if not isinstance(sampler, EpochPosition):
        raise ValueError(
            "checkpoints need a loader that can continue amid an epoch: give the DataLoader an EpochBatchSampler or a "
            "BucketBatchSampler as batch_sampler"
        )
    return sampler
