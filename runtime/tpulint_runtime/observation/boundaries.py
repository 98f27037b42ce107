"""Tells what a step boundary asked for from what a read forced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tpulint_runtime.observation.counters import Counters, loaded_xla
from tpulint_runtime.observation.lines import Charge, LineTracer

_ASKED_FOR = ("_xla_step_marker", "_run_cached_graph", "_xla_warm_up_cache")
"""Functions of torch_xla that run or compile a program because somebody wants just that: ``torch_xla.sync`` and all
that ends in it, and what ``torch.compile`` made."""
_UNCOUNTED = ("_xla_get_cpu_tensors",)
"""Reads that show in no counter of the gate."""


class Boundaries:
    """Wraps the functions by which torch_xla runs what was traced."""

    def __init__(self, counters: Counters, charge: Charge, on_boundary: Callable[[], None]) -> None:
        self._counters = counters
        self._charge = charge
        self._on_boundary = on_boundary
        self.tracer: LineTracer | None = None

    def install(self) -> bool:
        """Wrap them if torch_xla is loaded; whether it is."""
        xla = loaded_xla()
        if xla is None or not hasattr(xla, "_xla_counter_value"):
            return False
        for name in _ASKED_FOR:
            if hasattr(xla, name):
                setattr(xla, name, self._asked_for(getattr(xla, name), name == "_xla_step_marker"))
        for name in _UNCOUNTED:
            if hasattr(xla, name):
                setattr(xla, name, self._uncounted(getattr(xla, name)))
        return True

    def _asked_for(self, run: Any, is_boundary: bool) -> Any:
        @functools.wraps(run)
        def run_as_asked(*args: Any, **kwargs: Any) -> Any:
            tracer = self.tracer
            if tracer is None:
                return run(*args, **kwargs)
            tracer.settle()
            here = tracer.here
            try:
                return run(*args, **kwargs)
            finally:
                work = self._counters.since_last()
                if work is not None and (work.boundaries or not work.is_nothing):
                    self._charge(here, work, True)
                if is_boundary:
                    self._on_boundary()

        return run_as_asked

    def _uncounted(self, read: Any) -> Any:
        @functools.wraps(read)
        def read_and_tell(*args: Any, **kwargs: Any) -> Any:
            self._counters.is_stale = True
            return read(*args, **kwargs)

        return read_and_tell
