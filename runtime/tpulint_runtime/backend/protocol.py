"""What the rest of the runtime, and rewritten code, asks of the machinery below torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import torch

from tpulint_runtime.backend.partition import Partition

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


class Place(NamedTuple):
    """One process among those that train together."""

    rank: int
    """Its number, from 0."""
    processes: int
    """How many there are."""


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

    def activity(self) -> Callable[[], object]:
        """A function that gives another value whenever a graph was run or a value was read since. It is quick."""

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

    def launch(self, function: Callable[..., object], args: tuple[Any, ...], start_method: str) -> None:
        """Runs ``function(index, *args)`` in every process that is to train."""

    def world_size(self, wanted: int) -> int:
        """Number of processes that run together, where ``wanted`` were asked for."""

    def place(self) -> Place:
        """Which process this is, of those that train together."""

    def gather(self, value: str) -> list[str]:
        """What every process gives, by rank. All of them have to call it."""

    def send(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """These tensors of the host, on the device: data there from the start, nothing that is still to be computed.
        One transfer, which is not waited for."""

    def partition(self, fsdp: int) -> Partition:
        """All devices as a mesh, ``fsdp`` of them in a column, or all for -1."""

    def add_up(self, tensors: list[torch.Tensor], scale: float = 1.0) -> None:
        """Puts the sum over all processes, times ``scale``, into each of these tensors of the device. All processes
        have to call it, with tensors of the same shapes. With one process nothing is done."""

    def copy_first(self, tensors: list[torch.Tensor]) -> None:
        """Puts what the first process has into these tensors of all. All of them have to call it."""

    def fetch(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """Copies on the host, with memory of their own, of tensors on the host or the device. One transfer. It
        waits for the device; the step is not ended."""

    def fetches_together(self) -> bool:
        """Whether :meth:`fetch` has to be called in all processes, since tensors are divided among them."""

    def random_state(self) -> Any:
        """Where the random numbers of the device stand, as a plain value or a tensor. Those of the host are torch's."""

    def set_random_state(self, state: Any) -> None:
        """Continues the random numbers of the device from what :meth:`random_state` gave."""
