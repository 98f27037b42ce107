"""Memory, arithmetic and traffic of one training step, from numbers of the model alone. Nothing is compiled or run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from tpulint.planning.generations import Generation, Slice

DATA_PARALLEL, FSDP = "data parallel", "FSDP"
STRATEGIES = (DATA_PARALLEL, FSDP)
"""Every device holds all of the state, or each its share."""

PARAMETER_BYTES = GRADIENT_BYTES = 4
"""Ported scripts keep parameters in f32, and compute in bf16 under autocast."""
OPTIMIZER_BYTES = {"adamw": 8, "sgd": 4}
"""For each parameter: two moments; one momentum."""
COMPUTE_BYTES = {"bf16": 2, "f32": 4}
ACTIVATION_VALUES = 17
"""Values that a transformer layer keeps for the backward pass, for each token and hidden unit."""
USABLE = 0.9
"""Share of the memory that may be planned with; the rest is for the program, buffers and padding."""
HIDDEN_PER_LAYER = 128
"""Hidden size over layers in common transformers, for models whose shape is not given."""

ESTIMATED_FROM = ("devices", "hbm", "hbm_bandwidth", "peak_bf16", "ici")
"""Figures of a generation that the formulas use."""


def unverified(generations: Iterable[Generation]) -> dict[str, tuple[str, ...]]:
    """By name, those of them that no page of the vendor states without contradiction."""
    found = {
        one.name: tuple(key for key in ESTIMATED_FROM if key in one.figures and not one.figures[key].verified)
        for one in generations
    }
    return {name: keys for name, keys in found.items() if keys}


FORMULAS = {
    "parameters": "4 bytes x params (f32, also under bf16 autocast)",
    "gradients": "4 bytes x params",
    "optimizer": "8 bytes x params for adamw, 4 for sgd with momentum",
    "activations": "17 x compute bytes x hidden x layers x sequence, for each sequence of a device; with recomputation "
    "compute bytes x hidden x (layers + 17) x sequence; attention scores and logits are not in it",
    "gathered": "FSDP: compute bytes x params / layers, one layer at a time",
    "sharding": "FSDP divides parameters, gradients and optimizer state by the devices, data parallel nothing",
    "fits": "all of these together within 90 % of the device's memory",
    "shape": "when not given: params = 12 x layers x hidden^2, hidden = 128 x layers",
    "flops": "6 x params x tokens, 8 with recomputation; attention is not in it",
    "compute_seconds": "flops of the fullest device / its peak in bf16 (f32 is slower; no page gives its peak)",
    "memory_seconds": "(2 x compute bytes x params + 2 x state of the device) / memory bandwidth",
    "collective_bytes": "sent by each chip, n chips: data parallel (n-1)/n x 2 x 4 bytes x params (all-reduce); FSDP "
    "(n-1)/n x (2 x compute bytes + 4) x params (two all-gathers, one reduce-scatter)",
    "collective_seconds": "collective bytes / (half of the bidirectional ICI bandwidth x share of ports in use)",
    "step_seconds": "the largest of the three: a lower bound, as if all overlapped and every unit ran at its peak",
}  # fmt: skip
"""How each number comes about, for reports."""


class Workload(NamedTuple):
    """What is trained."""

    params: int
    sequence: int
    """Tokens of one sequence."""
    batch: int
    """Sequences of one optimizer step, over all devices."""
    layers: int
    hidden: int
    optimizer: str = "adamw"
    precision: str = "bf16"
    recompute: bool = False
    """Whether layers are computed again in the backward pass (gradient checkpointing)."""

    @property
    def flops(self) -> int:
        """Of one step."""
        return (8 if self.recompute else 6) * self.params * self.sequence * self.batch

    @property
    def compute_bytes(self) -> int:
        """Size of a number that is computed with."""
        return COMPUTE_BYTES[self.precision]

    @property
    def state(self) -> int:
        """Bytes of parameters, gradients and optimizer, undivided."""
        return (PARAMETER_BYTES + GRADIENT_BYTES + OPTIMIZER_BYTES[self.optimizer]) * self.params

    @property
    def activations(self) -> int:
        """Bytes kept for one sequence until its backward pass."""
        if self.recompute:
            return self.compute_bytes * self.hidden * (self.layers + ACTIVATION_VALUES) * self.sequence
        return ACTIVATION_VALUES * self.compute_bytes * self.hidden * self.layers * self.sequence


class Memory(NamedTuple):
    """Bytes on one device."""

    parameters: int
    gradients: int
    optimizer: int
    gathered: int
    activations: int

    @property
    def total(self) -> int:
        """All together."""
        return sum(self)


class Step(NamedTuple):
    """One step on one slice. None where the figure of the chip is not known."""

    memory: Memory
    room: float | None
    """Bytes of a device that may be planned with."""
    sequences: int
    """Of the fullest device."""
    compute_seconds: float | None
    memory_seconds: float | None
    collective_bytes: int
    collective_seconds: float | None

    @property
    def fits(self) -> bool:
        """Whether a device holds it."""
        return self.room is not None and self.memory.total <= self.room

    @property
    def seconds(self) -> float | None:
        """Lower bound; None without any figure."""
        return max(self._parts().values(), default=None)

    @property
    def bound(self) -> str:
        """What the lower bound comes from: ``compute``, ``memory`` or ``collectives``."""
        parts = self._parts()
        return max(parts, key=lambda name: parts[name]) if parts else ""

    def _parts(self) -> dict[str, float]:
        parts = {
            "compute": self.compute_seconds,
            "memory": self.memory_seconds,
            "collectives": self.collective_seconds,
        }
        return {name: value for name, value in parts.items() if value is not None}


def shape_of(params: int) -> tuple[int, int]:
    """Layers and hidden size of a common transformer with so many parameters."""
    layers = max(1, round((params / (12 * HIDDEN_PER_LAYER**2)) ** (1 / 3)))
    return layers, hidden_of(params, layers)


def hidden_of(params: int, layers: int) -> int:
    """Hidden size of a transformer with so many parameters and layers."""
    return max(1, round(math.sqrt(params / (12 * layers))))


def layers_of(params: int, hidden: int) -> int:
    """Layers of a transformer with so many parameters and this hidden size."""
    return max(1, round(params / (12 * hidden**2)))


def estimate(workload: Workload, generation: Generation, piece: Slice, strategy: str) -> Step:
    """One step of a workload on a slice."""
    devices = piece.chips * generation.devices
    shards = devices if strategy == FSDP else 1
    sequences = -(-workload.batch // devices)
    memory = _memory(workload, shards, sequences)
    sent = _sent(workload, piece.chips, strategy)
    state = memory.parameters + memory.gradients + memory.optimizer
    per_device = 1 / generation.devices
    flops = workload.flops * sequences / workload.batch
    traffic = 2 * workload.compute_bytes * workload.params + 2 * state
    speed = generation.interconnect and generation.interconnect * piece.ports_used
    return Step(
        memory,
        generation.memory and generation.memory * per_device * USABLE,
        sequences,
        generation.peak and flops / (generation.peak * per_device),
        generation.memory_bandwidth and traffic / (generation.memory_bandwidth * per_device),
        sent,
        0.0 if not sent else speed and sent / speed,
    )


def _memory(workload: Workload, shards: int, sequences: int) -> Memory:
    def share(bytes_each: int) -> int:
        return -(-bytes_each * workload.params // shards)

    gathered = workload.compute_bytes * workload.params // workload.layers if shards > 1 else 0
    return Memory(
        share(PARAMETER_BYTES), share(GRADIENT_BYTES), share(OPTIMIZER_BYTES[workload.optimizer]), gathered,
        sequences * workload.activations,
    )  # fmt: skip


def _sent(workload: Workload, chips: int, strategy: str) -> int:
    each = 2 * GRADIENT_BYTES if strategy == DATA_PARALLEL else 2 * workload.compute_bytes + GRADIENT_BYTES
    return (chips - 1) * each * workload.params // chips
