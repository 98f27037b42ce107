"""What the rest of the runtime, and rewritten code, asks of the machinery below torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import torch

Number = TypeVar("Number", int, float)


class Counts(NamedTuple):
    """What a backend has done since the process started. Only differences mean something."""

    compiles: int = 0
    """Programs compiled."""
    compile_seconds: float = 0.0
    """Time spent compiling, in seconds."""
    launches: int = 0
    """Lazily traced graphs handed to the device, whatever the reason: a step boundary or a read."""
    boundaries: int = 0
    """Step boundaries. One with nothing to run counts as well."""
    reads: int = 0
    """Device-to-host transfers: each made Python wait for the device."""
    fallbacks: Mapping[str, int] = {}
    """Operations without a device implementation, by name: they ran on the host. Reading one number is one of them,
    ``aten::_local_scalar_dense``."""

    def since(self, earlier: Counts) -> Counts:
        """The difference to ``earlier``. A counter that fell was reset in between: it counts from zero then."""
        grown = {name: _grown(now, earlier.fallbacks.get(name, 0)) for name, now in self.fallbacks.items()}
        return Counts(
            compiles=_grown(self.compiles, earlier.compiles),
            compile_seconds=_grown(self.compile_seconds, earlier.compile_seconds),
            launches=_grown(self.launches, earlier.launches),
            boundaries=_grown(self.boundaries, earlier.boundaries),
            reads=_grown(self.reads, earlier.reads),
            fallbacks={name: count for name, count in grown.items() if count},
        )

    def plus(self, other: Counts) -> Counts:
        """Both together."""
        names = {**self.fallbacks, **other.fallbacks}
        return Counts(
            self.compiles + other.compiles,
            self.compile_seconds + other.compile_seconds,
            self.launches + other.launches,
            self.boundaries + other.boundaries,
            self.reads + other.reads,
            {name: self.fallbacks.get(name, 0) + other.fallbacks.get(name, 0) for name in names},
        )

    @property
    def extra_launches(self) -> int:
        """Launches that no boundary asked for. A lower bound: boundaries with nothing to run count against it, and
        ``torch_xla.compile`` makes one of these per call."""
        return max(0, self.launches - self.boundaries)


def _grown(now: Number, before: Number) -> Number:
    return now - before if now >= before else now


class Backend(Protocol):
    """What runs the tensors."""

    @property
    def name(self) -> str:
        """``xla``, ``cuda`` or ``cpu``."""

    @property
    def counts_work(self) -> bool:
        """Whether :meth:`counts` counts anything."""

    def device_type(self) -> str:
        """``xla``, ``cuda`` or ``cpu``, as torch's functions take it. Starts no runtime."""

    def device(self, index: int | None = None) -> torch.device:
        """The device of this process. ``index`` chooses among the GPUs of a machine."""

    def sync(self, wait: bool = False) -> None:
        """Ends the step: what was traced so far is run. With ``wait``, returns when the device is done."""

    def counts(self) -> Counts:
        """The counters right now. Reading them runs nothing."""

    def compile_count(self) -> int:
        """Programs compiled by this process so far."""

    def graph_hash(self, tensors: Iterable[torch.Tensor]) -> str | None:
        """Identity of the graph that would compute ``tensors``; None where there are no graphs. Runs nothing."""

    def seed(self, seed: int) -> None:
        """Seeds the random numbers drawn on the device. Those of the host are torch's own."""

    def is_bf16_supported(self) -> bool:
        """Whether the device computes in bfloat16."""

    def autocast(self, enabled: bool, dtype: torch.dtype | None, cache_enabled: bool | None) -> torch.autocast:
        """Mixed precision as the device has it."""

    def pin_memory(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in memory from which copies to the device are quick, where there is such memory."""

    def save(self, obj: object, file: Any) -> None:
        """Writes ``obj`` in this process, so that it can be loaded where there is no such device."""

    def checkpoint(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Calls a function whose activations are computed again for the backward pass instead of kept."""

    def join_group(self, backend: str | None, *args: Any, **options: Any) -> None:
        """Joins the process group of all processes."""

    def spawn(self, function: Callable[..., Any], args: tuple[Any, ...], nprocs: int, **options: Any) -> Any:
        """Runs a function in several processes, each with its number as the first argument."""

    def world_size(self, wanted: int) -> int:
        """Number of processes that run together, where ``wanted`` were asked for."""
