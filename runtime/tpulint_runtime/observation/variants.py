"""Runs a step in another way than its script says: under autocast to bf16, or with layers computed again."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import torch

from tpulint_runtime.observation.traced_backwards import is_traced

_module: Any = torch.nn.Module
_torch: Any = torch
_LEAST_REPEATED = 2
"""Children of one class that count as layers."""


class Variant:
    """Changes every step of this process."""

    def __init__(self, bf16: bool, checkpointing: bool, tell: Callable[[str], None]) -> None:
        self._bf16 = bf16
        self._checkpointing = checkpointing
        self._tell = tell
        self._depth = threading.local()
        self._autocast: Any = None
        self._seen: set[int] = set()

    def install(self) -> None:
        """Wrap calls of outermost modules, and backward passes."""
        if not (self._bf16 or self._checkpointing):
            return
        call, backward = _module.__call__, _torch.autograd.backward

        @functools.wraps(call)
        def called(module: Any, *args: Any, **kwargs: Any) -> Any:
            if not getattr(self._depth, "now", 0):
                self._before_forward(module)
            self._depth.now = getattr(self._depth, "now", 0) + 1
            try:
                return call(module, *args, **kwargs)
            finally:
                self._depth.now -= 1

        @functools.wraps(backward)
        def after_forward(*args: Any, **kwargs: Any) -> Any:
            # Autocast is for the forward pass and the loss; the backward pass follows its types.
            if not is_traced(sys._getframe(1)):
                self._leave()
            return backward(*args, **kwargs)

        _module.__call__ = called
        _torch.autograd.backward = after_forward

    def _before_forward(self, module: Any) -> None:
        if self._checkpointing and id(module) not in self._seen:
            self._seen.add(id(module))
            self._recompute_layers(module)
        if self._bf16 and self._autocast is None and module.training:
            self._autocast = torch.autocast("xla", dtype=torch.bfloat16)
            self._autocast.__enter__()

    def _leave(self) -> None:
        if self._autocast is not None:
            self._autocast.__exit__(None, None, None)
            self._autocast = None

    def _recompute_layers(self, module: Any) -> None:
        layers = layers_of(module)
        if layers:
            recompute = importlib.import_module("torch_xla.utils.checkpoint").checkpoint
            for layer in layers:
                layer.forward = _recomputed(layer.forward, recompute)
            name = type(layers[0]).__name__
            self._tell(f"checkpointing: {len(layers)} modules {name} are computed again in the backward pass")


def layers_of(module: Any) -> list[Any]:
    """The siblings of one class that hold most parameters; empty where nothing repeats."""
    best: list[Any] = []
    most = 0
    for parent in module.modules():
        by_class: dict[type, list[Any]] = {}
        for child in parent.children():
            by_class.setdefault(type(child), []).append(child)
        for siblings in by_class.values():
            size = sum(one.numel() for sibling in siblings for one in sibling.parameters())
            # Only modules of modules: to compute a single operation again saves nothing.
            has_parts = all(any(True for _ in sibling.children()) for sibling in siblings)
            if len(siblings) >= _LEAST_REPEATED and has_parts and size > most:
                best, most = siblings, size
    return best


def _recomputed(forward: Any, recompute: Any) -> Any:
    @functools.wraps(forward)
    def run(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        trained = any(isinstance(one, torch.Tensor) and one.requires_grad for one in given)
        if not trained or not torch.is_grad_enabled():
            return forward(*args, **kwargs)  # without an input that has a gradient, nothing would get one
        return recompute(functools.partial(forward, **kwargs), *args, use_reentrant=True)

    return run
