"""What is known of a script's training step after TPU compilers were asked: plain data, no behaviour but sums.

``Capture`` is what was traced, ``Compilation`` what one compiler said about it, ``CompiledPlan`` all of it together.
"""

from __future__ import annotations

from typing import NamedTuple

from tpulint.planning.commands import Command
from tpulint.planning.data import Prices
from tpulint.planning.generations import Generation, Slice
from tpulint.planning.tensors import Place, Tensor

BATCH, BF16, CHECKPOINTING, ACCUMULATION = "batch", "bf16", "checkpointing", "accumulation"
ROLES = ("state", "kept", "input", "unread")
"""Of an argument: kept from step to step and replaced by an output; kept and only read; new in every step; printed with
the program, but no argument of what is run: it only lives, such as a batch that waits in the queue of a loader."""
KEPT = ("state", "kept")
KINDS = ("out-of-memory", "operator", "compiler", "crash", "timeout", "topology")
"""Why a compilation gave nothing: it does not fit; an operator cannot be compiled; another error of the compiler's; its
process died; it took too long; the installed compiler does not know the chip or the topology."""
UNITS = ("compute", "memory")
"""What a step can be bound by on one chip: the matrix unit, or HBM."""


class Argument(NamedTuple):
    """One argument of a program, by its position."""

    tensor: Tensor
    role: str
    """One of ``ROLES``. Buffers of ``state`` can be donated to the outputs that replace it."""


class Program(NamedTuple):
    """One graph that the step runs."""

    digest: str
    """Of what is compiled, without source lines: names it in the cache."""
    text: str
    """StableHLO as torch_xla prints it, with source lines (``#loc7 = /a/train.py:11:0``)."""
    code: bytes
    """The same as a portable artifact, which other versions of StableHLO read."""
    arguments: tuple[Argument, ...]
    """By position in ``code``."""
    outputs: tuple[Tensor, ...]
    """What is computed: ``code`` also returns arguments."""
    runs: int
    """How often one optimizer step runs it."""
    place: Place | None
    """The line whose step boundary runs it."""

    @property
    def read(self) -> tuple[Argument, ...]:
        """Arguments of what is run."""
        return tuple(one for one in self.arguments if one.role != "unread")


class Variant(NamedTuple):
    """How a step was changed before it was captured; the default is the script as it stands."""

    batch: int | None = None
    """Value given to the script's batch argument; None leaves the script's own."""
    bf16: bool = False
    """Whether autocast to bf16 was put around the step."""
    checkpointing: bool = False
    """Whether repeated submodules were recomputed in the backward pass."""
    accumulation: int = 1
    """Parts that the batch was divided into."""


class Capture(NamedTuple):
    """The steady step of a script."""

    script: str
    arguments: tuple[str, ...]
    """Given to the script, those of the variant included."""
    variant: Variant
    programs: tuple[Program, ...]
    """The one with the most operations first."""
    step: int
    """Optimizer steps that had ended before it was captured."""
    params: int
    """Numbers in all parameters that the optimizers hold."""
    notes: tuple[str, ...]
    """Sentences on what was not captured, and what was done for the variant."""
    seconds: float


class Memory(NamedTuple):
    """Bytes on one device, as the compiler lays them out, padding included."""

    arguments: int
    outputs: int
    aliased: int
    """Part of the outputs that lies in the buffers of arguments."""
    temporaries: int
    code: int

    @property
    def total(self) -> int:
        """What the device must have while the program runs."""
        return self.undonated - self.aliased

    @property
    def undonated(self) -> int:
        """The same without donation: arguments and what replaces them both live."""
        return self.arguments + self.outputs + self.temporaries + self.code


class CompileFailure(NamedTuple):
    """Why there is no program."""

    kind: str
    """One of ``KINDS``."""
    message: str
    """The compiler's own words, shortened; for a crash or a time limit, ours."""
    operator: str = ""
    place: Place | None = None
    """Line of the script, where it can be told."""
    used: float | None = None
    limit: float | None = None
    """Bytes of HBM, out of an out-of-memory message."""


class Compilation(NamedTuple):
    """What the compiler of one generation made of one program."""

    program: str
    """Its digest."""
    generation: str
    topology: str
    """As libtpu was asked for it: ``v5e:2x2``."""
    memory: Memory | None
    """With the buffers of state donated; None when it does not compile."""
    flops: float | None
    bytes_accessed: float | None
    failure: CompileFailure | None
    """None when it compiles."""
    seconds: float
    """Of compiling; as it was when it came out of the cache."""
    is_cached: bool
    as_printed: bool = False
    """Whether it was compiled with what only lives meanwhile: the compiler had died of it without."""


class Roofline(NamedTuple):
    """Lower bound of a step on one chip: every unit at its peak, and all overlapped."""

    compute_seconds: float | None
    memory_seconds: float | None

    @property
    def seconds(self) -> float | None:
        """The larger of both; None where a figure of the chip is not known."""
        known = [one for one in self if one is not None]
        return max(known) if len(known) == len(self) else None

    @property
    def bound(self) -> str:
        """One of ``UNITS``; empty where it cannot be told."""
        if self.compute_seconds is None or self.memory_seconds is None:
            return ""
        return UNITS[0] if self.compute_seconds >= self.memory_seconds else UNITS[1]


class StepOnChip(NamedTuple):
    """All programs of a captured step on one device of a generation."""

    capture: Capture
    generation: Generation
    compilations: tuple[Compilation, ...]
    """One for each program of the capture, in its order."""
    capacity: float | None
    """Bytes of HBM of a device."""
    memory: Memory | None
    """Of the program that needs most; None when one does not compile."""
    state: int
    """Bytes of arguments that are kept between steps, without padding."""
    inputs: int
    """Bytes of arguments that are new in every optimizer step, over all its programs, without padding."""
    flops: float | None
    """Of one optimizer step, over all programs."""
    bytes_accessed: float | None
    roofline: Roofline

    @property
    def failure(self) -> CompileFailure | None:
        """The first of its compilations'."""
        return next((one.failure for one in self.compilations if one.failure is not None), None)

    @property
    def intensity(self) -> float | None:
        """FLOPs for each byte of HBM traffic."""
        if not self.flops or not self.bytes_accessed:
            return None
        return self.flops / self.bytes_accessed

    @property
    def fits(self) -> bool:
        """Whether everything compiled: the compiler refuses what does not fit."""
        return self.memory is not None


class BatchSearch(NamedTuple):
    """What ``--batch auto`` found on one generation, by compiling."""

    generation: str
    argument: str
    """The script's option, such as ``--batch-size``."""
    probes: tuple[StepOnChip, ...]
    """By batch, smallest first."""
    largest: int | None
    """The largest probed batch that fits."""
    refused: int | None
    """The smallest probed batch that the compiler refused for memory; None when the search ended before."""
    compute_bound: int | None
    """The smallest probed batch whose step is bound by the matrix unit."""
    ended_by: str
    """Why it did not look further: ``exact`` (largest and refused are neighbours), ``compiles`` or ``time``, or a
    sentence."""


class Scaled(NamedTuple):
    """A slice, by arithmetic from the compiled step of one chip: an estimate."""

    generation: Generation
    slice: Slice
    strategy: str
    memory: float
    """Bytes on a device."""
    collective_bytes: int
    collective_seconds: float | None
    step_seconds: float | None
    """Lower bound; every device runs the captured batch."""
    epoch_seconds: float | None
    run_seconds: float | None
    epoch_on_demand: float | None
    epoch_spot: float | None
    run_on_demand: float | None
    run_spot: float | None


class CompiledPlan(NamedTuple):
    """What a report shows."""

    script: str
    arguments: tuple[str, ...]
    versions: dict[str, str]
    """Of torch, torch_xla, jax and libtpu."""
    steps: tuple[StepOnChip, ...]
    """The script as it stands, one for each generation."""
    variants: tuple[StepOnChip, ...]
    """Other ways to run it, side by side: bf16, checkpointing, accumulation."""
    searches: tuple[BatchSearch, ...]
    scaled: tuple[Scaled, ...]
    steps_per_epoch: int
    epochs: int
    spot: bool
    prices: Prices
    chosen: Scaled | None
    commands: tuple[Command, ...]
    notes: tuple[str, ...]

    @property
    def generations(self) -> tuple[Generation, ...]:
        """All that its numbers are of, GPUs included."""
        found = [*(one.generation for one in self.steps), *(one.generation for one in self.scaled)]
        return tuple({one.name: one for one in found}.values())
