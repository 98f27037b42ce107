"""The batches of an epoch, as a training takes them that can be interrupted and goes on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch.utils.data import DataLoader


def epoch_batches(loader: Iterable[Any], done: int, *, can_save: bool) -> Iterable[Any]:
    """What an epoch has left, of which so many batches are done.

    A loader without a generator of its own draws a random number whenever it is iterated; an epoch that goes on has
    drawn its own when it began. Its workers outlive SIGTERM where it makes the training save (``can_save``): many
    managers of services and jobs send it to all processes of a group, and torch ends a training that loses a worker.
    They end with the training, a sample under way is finished first."""
    return _batches_of(loader, done, can_save) if isinstance(loader, DataLoader) else loader


def _batches_of(loader: DataLoader[Any], done: int, can_save: bool) -> Iterator[Any]:
    random, start_worker = torch.get_rng_state(), loader.worker_init_fn
    if can_save and loader.num_workers:
        loader.worker_init_fn = partial(_start_worker, start_worker)
    try:
        with _held_back() if can_save and loader.num_workers else nullcontext():
            batches = iter(loader)
    finally:
        loader.worker_init_fn = start_worker
    if done:
        torch.set_rng_state(random)
    yield from batches


@contextmanager
def _held_back() -> Iterator[None]:
    """Processes that are started here get SIGTERM when they have said what they do with it: starting takes seconds."""
    if not hasattr(signal, "pthread_sigmask"):  # where there are no groups of processes to signal either
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(own: Callable[[int], None] | None, number: int) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    if own is not None:
        own(number)
