"""The counters of torch_xla, read cheaply: at every line of the script."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

_SCALAR = "aten::_local_scalar_dense"
_GATE = ("UncachedCompile", "CachedCompile", _SCALAR, "xla::_to_cpu", "xla::_copy_from", "xla::_to_copy", "MarkStep")
"""Counters of which one changes whenever a program is run or a value is read. A counter costs a tenth of a microsecond,
the metric that counts reads has its samples copied and costs hundreds of times as much."""


class Work(NamedTuple):
    """What XLA did, as a difference of counters."""

    launches: int = 0
    """Traced graphs handed to the device."""
    compiles: int = 0
    """Graphs among these that had to be compiled."""
    boundaries: int = 0
    """Step boundaries."""
    reads: int = 0
    """Device-to-host transfers."""
    scalars: int = 0
    """Transfers of one number: ``.item()``, ``float()``, ``print``, ``if``."""
    fallbacks: tuple[tuple[str, int], ...] = ()
    """Operators that ran on the host, by name."""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing happened that a report would show."""
        return not (self.launches or self.boundaries or self.reads or self.fallbacks)


def loaded_xla() -> Any:
    """The C++ module of torch_xla, once the script has loaded it; None before."""
    return sys.modules.get("_XLAC")


class Counters:
    """Differences of counters from one reading to the next."""

    def __init__(self) -> None:
        self._xla: Any = None
        self._gate: tuple[int, ...] = ()
        self._reads = 0
        self._fallbacks: dict[str, int] = {}
        self.is_stale = False
        """Set where something was called that no counter of the gate knows."""

    def since_last(self) -> Work | None:
        """What happened since the last call; None for nothing."""
        xla = self._xla
        if xla is None:
            xla = self._xla = loaded_xla()
            if xla is None:
                return None
        value = xla._xla_counter_value
        gate = tuple([value(name) or 0 for name in _GATE])
        if gate == self._gate and not self.is_stale:
            return None
        self.is_stale = False
        return self._difference(xla, gate)

    def skip(self) -> None:
        """Leave out what happened since the last call."""
        self.since_last()

    def _difference(self, xla: Any, gate: tuple[int, ...]) -> Work:
        before = self._gate or (0,) * len(gate)
        uncached, cached, scalars, _, _, _, boundaries = map(_grown, gate, before)
        self._gate = gate
        samples = xla._xla_metric_data("TransferFromDeviceTime")
        reads = int(samples[0]) if samples else 0
        new_reads, self._reads = _grown(reads, self._reads), reads
        fallbacks = self._new_fallbacks(xla) if new_reads or scalars else ()
        return Work(uncached + cached, uncached, boundaries, new_reads, scalars, fallbacks)

    def _new_fallbacks(self, xla: Any) -> tuple[tuple[str, int], ...]:
        """A fallback reads its inputs from the device: without a read there was none."""
        found = []
        for name in xla._xla_counter_names():
            if name.startswith("aten::") and name != _SCALAR:
                now = int(xla._xla_counter_value(name) or 0)
                grown = _grown(now, self._fallbacks.get(name, 0))
                self._fallbacks[name] = now
                if grown:
                    found.append((str(name), grown))
        return tuple(found)


def _grown(now: int, before: int) -> int:
    """The difference; a counter that fell was reset by the script and counts from zero."""
    return now - before if now >= before else now
