"""Makes two runs of one program draw the same numbers, whatever device each runs on.

Random numbers come from the generator of the CPU and are moved where they are wanted, dropout keeps everything,
shuffles are seeded, data is loaded in the process itself.
"""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.utils.data
from torch.utils.data import dataloader

_torch: Any = torch
"""Without types: what is replaced here is not meant to be."""
_SEED = 20210
_SHUFFLES = 7919
"""Added to the seed for each time that a sampler is started."""

_SHAPED = ("rand", "randn", "randint", "randperm")
LIKE = {"rand_like": "rand", "randn_like": "randn", "randint_like": "randint"}
"""What is drawn in the shape of a tensor, and what draws the same in a shape."""
_FILLS = ("normal_", "uniform_", "bernoulli_", "random_", "exponential_", "log_normal_", "cauchy_", "geometric_")
_DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


def install(drop_last: bool, on_dropping: Callable[[], None]) -> None:
    """For the rest of this process.

    ``drop_last`` leaves out incomplete last batches of shuffled or sampled loaders; ``on_dropping`` is told of every
    loader that does so because the script says it.
    """
    random.seed(_SEED)
    torch.manual_seed(_SEED)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(_SEED)
    _switch_dropout_off()
    for name in _SHAPED:
        setattr(torch, name, drawn_on_host(getattr(torch, name)))
    _torch.normal = _normal_on_host(torch.normal)
    for name, base in LIKE.items():
        setattr(torch, name, drawn_like(getattr(torch, base)))
    for name in _FILLS:
        setattr(torch.Tensor, name, _filled_on_host(getattr(torch.Tensor, name)))
    _torch.bernoulli = _decided_on_host
    _torch.multinomial = _torch.Tensor.multinomial = chosen_on_host(torch.multinomial)
    _seed_shuffles()
    _load_in_process(drop_last, on_dropping)


def keep_all(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    """Dropout that drops nothing. Its result is another tensor: scripts change that in place, and keep the old one."""
    return input.clone() if training and not inplace else input


def _switch_dropout_off() -> None:
    functional: Any = torch.nn.functional

    for name in _DROPOUTS:
        setattr(functional, name, keep_all)
    _torch.dropout = lambda input, p, train: keep_all(input, p, train)

    attend = functional.scaled_dot_product_attention

    @functools.wraps(attend)
    def attend_to_all(q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0, *a: Any, **kw: Any) -> Any:
        return attend(q, k, v, attn_mask, 0.0, *a, **kw)

    functional.scaled_dot_product_attention = attend_to_all

    recurrent: Any = torch.nn.RNNBase
    init = recurrent.__init__

    @functools.wraps(init)
    def init_without_dropout(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        self.dropout = 0.0

    recurrent.__init__ = init_without_dropout


def _is_on_host(device: Any) -> bool:
    wanted = torch.get_default_device() if device is None else torch.device(device)
    return str(wanted.type) == "cpu"


def _leave_out_foreign_generator(kwargs: dict[str, Any]) -> None:
    """A generator of the host draws the same on any device; another is not the one that the original has."""
    generator = kwargs.get("generator")
    if generator is None or generator.device.type != "cpu":
        kwargs.pop("generator", None)


def drawn_on_host(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Draws on the host, and moves what was drawn to where it is asked for."""

    @functools.wraps(draw)
    def drawn(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        if _is_on_host(device):
            return draw(*args, device=device, **kwargs)
        target = torch.get_default_device() if device is None else device
        _leave_out_foreign_generator(kwargs)
        requires_grad = kwargs.pop("requires_grad", False)
        tensor = draw(*args, device="cpu", **kwargs).to(target)
        return tensor.requires_grad_() if requires_grad else tensor

    return drawn


def _normal_on_host(draw: Callable[..., Any]) -> Callable[..., Any]:
    drawn = drawn_on_host(draw)

    @functools.wraps(draw)
    def normal(mean: Any, std: Any = 1.0, *args: Any, **kwargs: Any) -> Any:
        tensors = [one for one in (mean, std) if isinstance(one, torch.Tensor)]
        if not tensors:
            return drawn(mean, std, *args, **kwargs)
        noise = _torch.randn(_torch.broadcast_shapes(*(one.shape for one in tensors))).to(tensors[0].device)
        return mean + std * noise

    return normal


def drawn_like(draw: Callable[..., Any]) -> Callable[..., Any]:
    """One value per element in the order of the shape: layouts differ between devices."""

    @functools.wraps(draw)
    def drawn(input: torch.Tensor, *args: Any, **kwargs: Any) -> Any:  # `randn_like(input=x)` names it
        device = kwargs.pop("device", None) or input.device
        kwargs["dtype"] = kwargs.get("dtype") or input.dtype
        kwargs.pop("memory_format", None)
        _leave_out_foreign_generator(kwargs)
        return draw(*args, size=tuple(input.shape), device=device, **kwargs)

    return drawn


def _filled_on_host(fill: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fill)
    def filled(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if self.device.type == "cpu" or any(isinstance(one, torch.Tensor) for one in args):
            return fill(self, *args, **kwargs)
        _leave_out_foreign_generator(kwargs)
        drawn = fill(torch.empty(tuple(self.shape), dtype=self.dtype, device="cpu"), *args, **kwargs)
        with torch.no_grad():
            return self.copy_(drawn.to(self.device))

    return filled


def _decided_on_host(input: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """``torch.bernoulli``: the numbers come from the host, the probabilities stay where they are."""
    return (torch.rand(tuple(input.shape)).to(input.device) < input).to(input.dtype)


def chosen_on_host(choose: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.multinomial``: the class is chosen for which the probability over a number of the host is largest.

    The numbers are distributed exponentially, which makes it the same choice. Several classes, each at most once, are
    left as they are: torch_xla has the host choose them, and that is to be seen.
    """

    @functools.wraps(choose)
    def chosen(input: torch.Tensor, num_samples: int, replacement: bool = False, **kwargs: Any) -> Any:
        if num_samples != 1 and not replacement:
            return choose(input, num_samples, replacement, **kwargs)
        noise = torch.rand(*input.shape[:-1], num_samples, input.shape[-1])
        raced = noise.clamp_min(1e-20).log().neg().to(input.device, input.dtype)
        return (input.unsqueeze(-2) / raced).argmax(-1)

    return chosen


def _seed_shuffles() -> None:
    """Each sampler has a sequence of its own, so that nobody else's draws change the order of the samples."""
    sampler: Any = torch.utils.data.RandomSampler
    iterate = sampler.__iter__

    def iterate_seeded(self: Any) -> Iterator[int]:
        self._tpulint_starts = getattr(self, "_tpulint_starts", 0) + 1
        kept = self.generator
        self.generator = torch.Generator().manual_seed(_SEED + _SHUFFLES * self._tpulint_starts)
        try:
            yield from iterate(self)
        finally:
            self.generator = kept

    sampler.__iter__ = iterate_seeded

    iterator: Any = dataloader._BaseDataLoaderIter
    start = iterator.__init__

    def start_without_drawing(self: Any, loader: Any) -> None:
        state = torch.random.get_rng_state()
        start(self, loader)
        torch.random.set_rng_state(state)

    iterator.__init__ = start_without_drawing


def _load_in_process(drop_last: bool, on_dropping: Callable[[], None]) -> None:
    """Worker processes would have random numbers of their own."""
    loader: Any = torch.utils.data.DataLoader
    init = loader.__init__

    @functools.wraps(init)
    def init_in_process(
        self: Any, dataset: Any, batch_size: Any = 1, shuffle: Any = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False,
        drop_last_batch: bool = False, *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            kwargs.pop(name, None)
        drops = bool(kwargs.pop("drop_last", drop_last_batch))
        if drops:
            on_dropping()
        elif drop_last and batch_sampler is None and batch_size is not None:
            drops = bool(shuffle) or sampler is not None
        # The arguments that follow by position say how worker processes are run.
        init(self, dataset, batch_size, shuffle, sampler, batch_sampler, 0, collate_fn, False, drops, **kwargs)

    loader.__init__ = init_in_process
