"""The batches of an epoch, as a training takes them that can be interrupted and goes on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch.utils.data import DataLoader

_CAN_WAIT = hasattr(signal, "pthread_sigmask")
"""Not on Windows, where no group of processes is signalled either."""


def epoch_batches(loader: Iterable[Any], done: int, *, can_save: bool) -> Iterable[Any]:
    """What an epoch has left, of which so many batches are done.

    A loader without a generator of its own draws a random number whenever it is iterated; an epoch that goes on has
    drawn its own when it began. Its workers outlive SIGTERM where it makes the training save (``can_save``): many
    managers of services and jobs send it to all processes of a group, and torch ends a training that loses a worker.
    They end with the training, a sample under way is finished first."""
    return _batches_of(loader, done, can_save) if isinstance(loader, DataLoader) else loader


def _batches_of(loader: DataLoader[Any], done: int, can_save: bool) -> Iterator[Any]:
    random = torch.get_rng_state()
    with _outliving(loader) if can_save and loader.num_workers else nullcontext():
        batches = iter(loader)
    if done:
        torch.set_rng_state(random)
    yield from batches


@contextmanager
def _outliving(loader: DataLoader[Any]) -> Iterator[None]:
    """Workers that are started here ignore SIGTERM. It waits until they do: starting takes seconds."""
    own = loader.worker_init_fn
    loader.worker_init_fn = partial(_start_worker, own)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}) if _CAN_WAIT else set()
    try:
        yield
    finally:
        if _CAN_WAIT:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        loader.worker_init_fn = own


def _start_worker(own: Callable[[int], None] | None, number: int) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if _CAN_WAIT:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    if own is not None:
        own(number)
