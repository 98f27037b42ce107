"""Slices for a compiled step: arithmetic from what one chip needs. An estimate, and said to be one."""

from __future__ import annotations

import math

from tpulint.planning.compiled import KEPT, Scaled, StepOnChip
from tpulint.planning.data import Price
from tpulint.planning.estimate import DATA_PARALLEL, FSDP, GRADIENT_BYTES, STRATEGIES, USABLE
from tpulint.planning.generations import Generation, Slice

ABOUT = (
    "Every device runs the captured batch: n devices make one step of n times the batch. FSDP leaves each device its "
    "share of the state and one gathered array; gradients are exchanged in f32; steps overlap everything. "
    "An estimate: only the step on one chip was compiled."
)  # fmt: skip


def scale(
    step: StepOnChip, memory: float, steps_per_epoch: int, epochs: int, price: Price | None
) -> tuple[Scaled, ...]:
    """All slices that hold it. ``memory`` is what one device needs for the whole step: compiled for this generation or
    for one that holds more."""
    found = []
    for strategy in STRATEGIES:
        for piece in step.generation.slices:
            if strategy == FSDP and piece.chips * step.generation.devices == 1:
                continue  # there is nobody to share with
            one = _scaled(step, memory, piece, strategy, steps_per_epoch, epochs, price)
            if one.memory <= USABLE * (step.capacity or 0):
                found.append(one)
    return tuple(found)


def _scaled(
    step: StepOnChip, memory: float, piece: Slice, strategy: str, steps_per_epoch: int, epochs: int,
    price: Price | None,
) -> Scaled:  # fmt: skip
    generation = step.generation
    devices = piece.chips * generation.devices
    if strategy == FSDP:
        memory = memory - step.state + step.state / devices + _largest(step)
    sent = _sent(step.capture.params, piece.chips, strategy)
    collective = _collective_seconds(sent, generation, piece)
    bounds = [one for one in (step.roofline.seconds, collective) if one is not None]
    least = max(bounds) if bounds and step.roofline.seconds is not None else None
    steps = math.ceil(steps_per_epoch / devices)
    epoch = None if least is None else least * steps
    run = None if epoch is None else epoch * epochs
    costs = []
    for seconds in (epoch, run):
        for rate in (price.on_demand, price.spot) if price else (None, None):
            costs.append(None if seconds is None or rate is None else seconds / 3600 * piece.chips * rate)
    return Scaled(generation, piece, strategy, memory, sent, collective, least, epoch, run, *costs)


def _largest(step: StepOnChip) -> int:
    """Bytes of the largest array that is kept: FSDP gathers one at a time."""
    kept = [one for program in step.capture.programs for one in program.arguments if one.role in KEPT]
    return max((one.tensor.bytes for one in kept), default=0)


def _sent(params: int, chips: int, strategy: str) -> int:
    """Bytes that leave each chip in a step: an all-reduce of gradients; two all-gathers and one reduce-scatter."""
    each = {DATA_PARALLEL: 2 * GRADIENT_BYTES, FSDP: 3 * GRADIENT_BYTES}[strategy]
    return (chips - 1) * each * params // chips


def _collective_seconds(sent: int, generation: Generation, piece: Slice) -> float | None:
    if not sent:
        return 0.0
    speed = generation.interconnect and generation.interconnect * piece.ports_used
    return sent / speed if speed else None


def cheapest(found: tuple[Scaled, ...], spot: bool) -> Scaled | None:
    """The slice on which a run costs least, the smallest of those; without prices the first."""
    of_tpus = [one for one in found if one.slice.type]

    def rank(one: Scaled) -> tuple[float, int]:
        cost = one.run_spot if spot else one.run_on_demand
        return (math.inf if cost is None else float(f"{cost:.9g}"), one.slice.chips)

    return min(of_tpus, key=rank, default=None)
