"""Answers reads of values that were never computed: every number is one, every condition false.

One, because losses and counts are divided by; false, because conditions mostly ask whether something went wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

_tensor: Any = torch.Tensor
_VALUES = ("item", "tolist", "numpy", "cpu", "__float__", "__int__", "__bool__", "__index__", "__array__", "__repr__",
           "__complex__")  # fmt: skip


def answer_reads(tell: Callable[[torch.Tensor], None]) -> None:
    """From now on, reads of tensors on XLA are answered from here. ``tell`` hears of each before."""
    for name in _VALUES:
        setattr(_tensor, name, _answering(getattr(_tensor, name), tell))
    move = _tensor.to

    @functools.wraps(move)
    def move_or_answer(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if tensor.device.type == "xla" and _goes_to_host(*args, **kwargs):
            tell(tensor)
            return move(_made_up(tensor), *args, **kwargs)
        return move(tensor, *args, **kwargs)

    _tensor.to = move_or_answer


def _answering(read: Any, tell: Callable[[torch.Tensor], None]) -> Any:
    @functools.wraps(read)
    def answer(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if tensor.device.type != "xla":
            return read(tensor, *args, **kwargs)
        tell(tensor)
        return read(_made_up(tensor), *args, **kwargs)

    return answer


def _made_up(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype is torch.bool:
        return torch.zeros(tensor.shape, dtype=torch.bool)
    return torch.ones(tensor.shape, dtype=tensor.dtype)


def _goes_to_host(*args: Any, **kwargs: Any) -> bool:
    target = kwargs.get("device", args[0] if args else None)
    if isinstance(target, torch.Tensor):
        return bool(target.device.type == "cpu")
    if isinstance(target, str | torch.device):
        return bool(torch.device(target).type == "cpu")
    return False
