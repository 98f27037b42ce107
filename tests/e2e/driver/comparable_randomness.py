"""Makes two runs of one program draw the same random numbers, whatever device each runs on."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from typing import Any

import numpy
import torch
import torch.utils.data
from torch.utils.data import dataloader

SHUFFLE_SEED = 4321


def install(drop_last: bool) -> None:
    """Seeds everything; ``drop_last`` also drops incomplete batches of shuffled loaders, as some ports do."""
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    _switch_dropout_off()
    for name in ("rand", "randn", "randint"):
        setattr(torch, name, _drawn_on_cpu(getattr(torch, name)))
    for name, base in (("rand_like", "rand"), ("randn_like", "randn")):
        setattr(torch, name, _drawn_like(getattr(torch, base)))
    for name in ("normal_", "uniform_", "bernoulli_"):
        setattr(torch.Tensor, name, _filled_on_cpu(getattr(torch.Tensor, name)))
    _seed_shuffling()
    _tame_loaders(drop_last)


def _switch_dropout_off() -> None:
    functional = torch.nn.functional

    def keep_all(input: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return input

    functional.dropout = torch.dropout = keep_all
    attend = functional.scaled_dot_product_attention

    @functools.wraps(attend)
    def attend_to_all(q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0, *a: Any, **kw: Any) -> Any:
        return attend(q, k, v, attn_mask, 0.0, *a, **kw)

    functional.scaled_dot_product_attention = attend_to_all


def _drawn_on_cpu(draw: Any) -> Any:
    @functools.wraps(draw)
    def drawn(*args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        if device is None or torch.device(device).type != "xla":
            return draw(*args, device=device, **kwargs)
        kwargs.pop("generator", None)
        return draw(*args, **kwargs).to(device)

    return drawn


def _drawn_like(draw: Any) -> Any:
    @functools.wraps(draw)
    def drawn(like: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        device = kwargs.pop("device", None) or like.device
        kwargs.setdefault("dtype", like.dtype)
        kwargs.pop("memory_format", None)
        return draw(tuple(like.shape), **kwargs).to(device)

    return drawn


def _filled_on_cpu(fill: Any) -> Any:
    @functools.wraps(fill)
    def filled(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if self.device.type != "xla":
            return fill(self, *args, **kwargs)
        kwargs.pop("generator", None)
        drawn = fill(torch.empty(tuple(self.shape), dtype=self.dtype), *args, **kwargs)
        with torch.no_grad():
            return self.copy_(drawn)

    return filled


def _seed_shuffling() -> None:
    """Each sampler has a sequence of its own, so that nobody else's draws change the order of the samples."""
    sampler = torch.utils.data.RandomSampler
    iterate = sampler.__iter__

    def iterate_seeded(self: Any) -> Iterator[int]:
        self._epochs_drawn = getattr(self, "_epochs_drawn", 0) + 1
        kept = self.generator
        self.generator = torch.Generator().manual_seed(SHUFFLE_SEED + self._epochs_drawn)
        try:
            yield from iterate(self)
        finally:
            self.generator = kept

    sampler.__iter__ = iterate_seeded

    iterator = dataloader._BaseDataLoaderIter
    start = iterator.__init__

    def start_without_drawing(self: Any, loader: Any) -> None:
        state = torch.random.get_rng_state()
        start(self, loader)
        torch.random.set_rng_state(state)

    iterator.__init__ = start_without_drawing


def _tame_loaders(drop_last: bool) -> None:
    """No worker processes, no pinned memory: the batches are the same, and a run of a few steps starts at once."""
    loader = torch.utils.data.DataLoader
    init = loader.__init__

    @functools.wraps(init)
    def init_tamed(self: Any, dataset: Any, batch_size: Any = 1, shuffle: Any = None, *args: Any, **kw: Any) -> None:
        if args:
            raise TypeError("the measured scripts pass the further arguments of DataLoader by keyword")
        kw.update(num_workers=0, pin_memory=False, persistent_workers=False, prefetch_factor=None)
        if drop_last and shuffle:
            kw["drop_last"] = True
        init(self, dataset, batch_size, shuffle, **kw)

    loader.__init__ = init_tamed
