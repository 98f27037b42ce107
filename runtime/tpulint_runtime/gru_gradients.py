"""Gradients through the GRU that torch_xla puts in the place of ``torch.nn.GRU``.

It runs on ``scan``, which keeps what it traced by the shapes of its input, and not by whether that needs a gradient
(measured on torch_xla 2.9). Where the first input of a shape needs none, as in an evaluation before the training or in
the first of two layers of one size, all later ones of that shape give none either: what lies in front of the layer is
never trained, and nobody says so.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tpulint_runtime import backend

_MODULE = "torch_xla.experimental.gru"


def support_gru_gradients() -> None:
    """Lets gradients pass the GRU of torch_xla whatever ran before, for the whole process.

    Inputs that need a gradient are traced apart from those that need none. Where torch_xla does not run the tensors, or
    its GRU is torch's own, nothing is done. Call it once, before the model runs; again does no harm."""
    is_loaded = sys.modules.get("torch_xla") is not None
    if not (is_loaded or backend.own().name == "xla") or find_spec(_MODULE) is None:
        return
    gru: Any = import_module(_MODULE)
    if not hasattr(gru.scan, "by_gradient"):
        gru.scan = _by_gradient(gru.scan)


def _by_gradient(scan: Callable[..., Any]) -> Callable[..., Any]:
    """``scan`` with another function, which it keeps apart, for inputs that need a gradient."""

    @functools.cache
    def twin(fn: Callable[..., Any]) -> Callable[..., Any]:
        return lambda carry, x: fn(carry, x)

    @functools.wraps(scan)
    def scan_by_gradient(fn: Callable[..., Any], init: Any, xs: Any, **settings: Any) -> Any:
        return scan(fn=twin(fn) if xs.requires_grad else fn, init=init, xs=xs, **settings)

    scan_by_gradient.__dict__["by_gradient"] = True
    return scan_by_gradient
