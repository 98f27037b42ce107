"""The one module that knows torch_xla: what the rest of the runtime asks of the machinery below torch.

torch_xla is imported by the methods of its backend, so that scripts on CPU and CUDA never pay for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import torch

from tpulint_runtime.nested import leaves

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

    def device(self) -> torch.device:
        """The device of this process."""

    def sync(self, wait: bool = False) -> None:
        """Ends the step: what was traced so far is run. With ``wait``, returns when the device is done."""

    def counts(self) -> Counts:
        """The counters right now. Reading them runs nothing."""

    def compile_count(self) -> int:
        """Programs compiled by this process so far."""

    def graph_hash(self, tensors: Iterable[torch.Tensor]) -> str | None:
        """Identity of the graph that would compute ``tensors``; None where there are no graphs. Runs nothing."""


def _torch_xla() -> Any:
    """The package, as Any: its functions have no types."""
    import torch_xla

    return torch_xla


def _metrics() -> Any:
    import torch_xla.debug.metrics

    return torch_xla.debug.metrics


class XlaBackend:
    """torch_xla. Counters are of the process: threads that share it are counted together."""

    name = "xla"
    counts_work = True

    def device(self) -> torch.device:
        device: torch.device = _torch_xla().device()
        return device

    def sync(self, wait: bool = False) -> None:
        # Host sync, deliberate, with wait=True only: the caller asked to stand still until the device is done.
        _torch_xla().sync(wait=wait)

    def counts(self) -> Counts:
        metrics = _metrics()

        def counter(name: str) -> int:
            return int(metrics.counter_value(name) or 0)

        def samples(name: str) -> int:
            return int((metrics.metric_data(name) or (0,))[0])

        compiling = metrics.metric_data("CompileTime") or (0, 0.0)
        # Launches are counted where they are asked for. The metric ExecuteTime is sampled by the thread that waits for
        # the device, some steps later. What torch.compile runs is asked for, without a boundary of its own.
        asked_by_dynamo = samples("RunCachedGraphInputData")
        return Counts(
            compiles=int(compiling[0]),
            compile_seconds=float(compiling[1]) * 1e-9,  # nanoseconds
            launches=max(0, counter("UncachedCompile") + counter("CachedCompile") - asked_by_dynamo),
            boundaries=counter("MarkStep"),
            reads=samples("TransferFromDeviceTime"),
            fallbacks={str(name): counter(name) for name in metrics.counter_names() if name.startswith("aten::")},
        )

    def compile_count(self) -> int:
        return int((_metrics().metric_data("CompileTime") or (0,))[0])

    def graph_hash(self, tensors: Iterable[torch.Tensor]) -> str | None:
        """See :meth:`Backend.graph_hash`. The graph is known before the step boundary, not after it.

        Raises TypeError for a tensor that is not on XLA, ValueError without a tensor."""
        asked = list(tensors)
        if not asked:
            raise ValueError("a graph hash needs at least one tensor")
        for tensor in asked:
            if tensor.device.type != "xla":  # torch_xla would end the process, not raise
                raise TypeError(f"a graph hash needs tensors on XLA, not on {tensor.device}")
        # A private name: the test of this method fails when a version of torch_xla has it no longer.
        return str(_torch_xla()._XLAC._get_graph_hash(asked).hex())


class PlainBackend:
    """CPU and CUDA: operations run as they are called, nothing is traced, nothing is counted."""

    counts_work = False

    def __init__(self, device: torch.device) -> None:
        self._device = device

    @property
    def name(self) -> str:
        return str(self._device.type)

    def device(self) -> torch.device:
        return self._device

    def sync(self, wait: bool = False) -> None:
        if wait and self._device.type == "cuda":
            # Host sync, deliberate: the caller asked to stand still until the device is done.
            torch.cuda.synchronize(self._device)

    def counts(self) -> Counts:
        return Counts()

    def compile_count(self) -> int:
        return 0

    def graph_hash(self, tensors: Iterable[torch.Tensor]) -> str | None:
        return None


def current(using: Any = None) -> Backend:
    """The backend that runs ``using``: a tensor, a module, a device, its name, or a batch of these.

    - The first tensor, parameter or device found in ``using`` decides: XLA for device type ``xla``, plain otherwise.
    - Without one, XLA if this process has imported torch_xla, which it must have to own an XLA tensor; otherwise
      plain, on CUDA if there is one. That torch_xla could be imported decides nothing: importing it takes seconds and
      changes how torch behaves (mixed precision, gradient clipping).

    Raises ImportError if ``using`` is on XLA by name, but torch_xla is not installed.
    """
    found = _device_of(using)
    if found is None:
        if "torch_xla" in sys.modules:
            return XlaBackend()
        return PlainBackend(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    if found.type != "xla":
        return PlainBackend(found)
    _torch_xla()  # a missing one is reported here, not by the first count
    return XlaBackend()


def _device_of(using: Any) -> torch.device | None:
    for _, leaf in leaves(using):
        if isinstance(leaf, torch.device):
            return leaf
        if isinstance(leaf, torch.Tensor):
            return leaf.device
        if isinstance(leaf, str) and leaf is using:
            return torch.device(leaf)
        if isinstance(leaf, torch.nn.Module):
            for parameter in leaf.parameters():
                return parameter.device
    return None
