"""Follows the training: backward passes, optimizer steps, losses.

A loss is kept on its device and read once, after the script: measuring adds no read, no graph and no step boundary.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from tpulint_runtime.observation.optimizers import Optimizers, parameters_of
from tpulint_runtime.observation.records import Records
from tpulint_runtime.observation.traced_backwards import is_traced

_torch: Any = torch
"""Without types: what is replaced here is not meant to be."""
_UNSCALED = "_tpulint_unscaled"
"""Attribute of a scaled loss that holds the loss itself."""


class Training:
    """Counts steps: a step ends when the optimizer that stepped first steps, and without one with every backward."""

    def __init__(
        self, records: Records, max_steps: int, keeps_losses: bool, on_limit: Callable[[], None],
        on_backward: Callable[[], None], on_failure: Callable[[Exception], None], on_update: Callable[[], None],
    ) -> None:  # fmt: skip
        self._records = records
        self._max_steps = max_steps
        self._keeps_losses = keeps_losses
        self._on_limit = on_limit
        self._on_backward = on_backward
        self._on_failure = on_failure
        self._on_update = on_update
        self._lock = threading.RLock()
        self._in_backward = threading.local()
        self._leader: torch.optim.Optimizer | None = None
        self._has_optimizer = False
        self._started = time.monotonic()
        self.steps = 0
        """Steps that ended."""
        self.backwards = 0
        self._is_in_step = False
        self.losses: list[torch.Tensor | None] = []
        self.optimizers = Optimizers()

    def install(self) -> None:
        """Follow the rest of this process."""
        self._wrap_backward()
        if self._keeps_losses:
            self._remember_unscaled_losses()
        self._notice_optimizers()
        register_optimizer_step_pre_hook(self._on_optimizer_step)

    def restart(self) -> None:
        """Begin anew. Optimizers that were built before may still step."""
        self._lock = threading.RLock()
        self._leader = None
        self.steps = self.backwards = 0
        self._is_in_step = False
        self.losses = []
        self.optimizers = Optimizers()

    @property
    def in_step(self) -> int:
        """The step that is being made, 1 for the first; between two steps the one before."""
        return self.steps + self._is_in_step

    def read_losses(self) -> list[float | None]:
        """The loss of every backward; None for one that is not a number."""
        return [None if loss is None else float(loss.to("cpu").float().item()) for loss in self.losses]

    def _wrap_backward(self) -> None:
        backward = torch.autograd.backward

        @functools.wraps(backward)
        def observed(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(self._in_backward, "now", False) or is_traced(sys._getframe(1)):
                return backward(tensors, *args, **kwargs)
            with self._lock:
                self._begin(tensors)
            self._in_backward.now = True
            try:
                return backward(tensors, *args, **kwargs)
            finally:
                self._in_backward.now = False

        _torch.autograd.backward = observed

    def _notice_optimizers(self) -> None:
        init = _torch.optim.Optimizer.__init__

        @functools.wraps(init)
        def init_noticed(*args: Any, **kwargs: Any) -> None:
            self._has_optimizer = True
            init(*args, **kwargs)

        _torch.optim.Optimizer.__init__ = init_noticed

    def _begin(self, tensors: Any) -> None:
        if self.backwards and not self._has_optimizer:
            self._end_step()  # the parameters are updated by hand
        if self._max_steps and self.steps >= self._max_steps:
            self._on_limit()
        self._on_backward()
        root = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors))
        self.backwards += 1
        self._is_in_step = True
        self._records.add(
            "backward", ("backward", self.backwards, root.device.type), {}, device=root.device.type, step=self.steps
        )
        if self._keeps_losses:
            loss = getattr(root, _UNSCALED, root)
            self.losses.append(loss.detach().clone() if loss.numel() == 1 else None)

    def _on_optimizer_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        with self._lock:
            if self._leader is None or self._succeeds(optimizer, self._leader):
                self._leader = optimizer
            try:
                self.optimizers.before_step(optimizer)
            except Exception as error:
                self._on_failure(error)
            self._on_update()
            if optimizer is self._leader:
                self._end_step()

    def _succeeds(self, optimizer: torch.optim.Optimizer, leader: torch.optim.Optimizer) -> bool:
        """Whether it was built anew for parameters of the leader, as some scripts do in every epoch."""
        if optimizer is leader or self.optimizers.has_stepped(optimizer):
            return False
        held = {id(one) for one in parameters_of(leader)}
        return any(id(one) in held for one in parameters_of(optimizer))

    def _end_step(self) -> None:
        self.steps += 1
        self._is_in_step = False
        self._records.write("step", number=self.steps, seconds=round(time.monotonic() - self._started, 3))
        self._records.flush()

    def _remember_unscaled_losses(self) -> None:
        scaler = _torch.amp.GradScaler
        scale = scaler.scale

        @functools.wraps(scale)
        def scale_and_remember(scaler: Any, outputs: Any) -> Any:
            scaled = scale(scaler, outputs)
            if isinstance(scaled, torch.Tensor) and scaled is not outputs:
                setattr(scaled, _UNSCALED, outputs.detach().clone())
            return scaled

        scaler.scale = scale_and_remember
