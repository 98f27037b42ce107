"""Tells backward passes of the script from those that torch_xla runs itself to trace a loop, as that of ``nn.GRU``.

torch_xla 2.9 builds its GRU on ``scan``, which calls ``torch.autograd.backward`` in the forward pass to see what the
backward pass of one turn is: it trains nothing, and its root is no loss.
"""

from __future__ import annotations

from types import FrameType

_OBSERVERS = "tpulint_runtime."
_TRACERS = "torch_xla."


def is_traced(caller: FrameType | None) -> bool:
    """Whether a backward pass is asked for by torch_xla; ``caller`` is the frame that asks, or one of an observer."""
    while caller is not None and _module_of(caller).startswith(_OBSERVERS):
        caller = caller.f_back
    return caller is not None and _module_of(caller).startswith(_TRACERS)


def _module_of(frame: FrameType) -> str:
    name: object = frame.f_globals.get("__name__", "")
    return name if isinstance(name, str) else ""
