"""Notices what the script still asks of CUDA. Calls of libraries are not told: they ask on every kind of machine."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import torch

from tpulint_runtime.ownership import Line

_torch: Any = torch
"""Without types: what is replaced here is not meant to be."""


class CudaCalls:
    """Wraps the public functions of ``torch.cuda``, and the methods and contexts that name CUDA."""

    def __init__(self, line_of: Callable[[Any], Line | None], tell: Callable[[Line, str], None]) -> None:
        self._line_of = line_of
        """The line of the user's code that a frame belongs to, when it is the user's code itself."""
        self._tell = tell

    def install(self) -> None:
        """For the rest of this process."""
        cuda = _torch.cuda
        for name in dir(cuda):
            member = getattr(cuda, name)
            if not name.startswith("_") and inspect.isfunction(member):
                setattr(cuda, name, self._told(member, f"torch.cuda.{name}"))
        for owner in (_torch.Tensor, _torch.nn.Module):
            owner.cuda = self._told(owner.cuda, ".cuda()")
        for owner, label in ((_torch.amp.GradScaler, "GradScaler"), (_torch.amp.autocast, "autocast")):
            owner.__init__ = self._told_if_cuda(owner.__init__, label)

    def _told(self, function: Any, name: str) -> Any:
        @functools.wraps(function)
        def told(*args: Any, **kwargs: Any) -> Any:
            self._notice(sys._getframe(1), name)
            return function(*args, **kwargs)

        return told

    def _told_if_cuda(self, init: Any, label: str) -> Any:
        @functools.wraps(init)
        def told(owner: Any, *args: Any, **kwargs: Any) -> None:
            device = args[0] if args else kwargs.get("device_type", kwargs.get("device", "cuda"))
            if str(device).partition(":")[0] == "cuda":
                frame = sys._getframe(1)
                # torch.cuda.amp.autocast and its like are subclasses: their own functions lie in between.
                while "torch" in frame.f_code.co_filename and self._line_of(frame) is None and frame.f_back is not None:
                    frame = frame.f_back
                self._notice(frame, f'{label}("cuda")')
            init(owner, *args, **kwargs)

        return told

    def _notice(self, frame: Any, name: str) -> None:
        line = self._line_of(frame)
        if line is not None:
            self._tell(line, name)


def watch_bfloat16(tell: Callable[[], None]) -> None:
    """Tell when automatic mixed precision computes in bfloat16 on XLA: losses are less exact then."""
    autocast = _torch.amp.autocast
    init = autocast.__init__

    @functools.wraps(init)
    def init_watched(context: Any, *args: Any, **kwargs: Any) -> None:
        init(context, *args, **kwargs)
        if context.device == "xla" and context.fast_dtype is torch.bfloat16 and context._enabled:
            tell()

    autocast.__init__ = init_watched
