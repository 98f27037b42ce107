"""A captured step on one chip: what its programs need together, and the least time it takes."""

from __future__ import annotations

from collections.abc import Callable

from tpulint.planning.compiled import KEPT, Argument, Capture, Compilation, Program, Roofline, StepOnChip
from tpulint.planning.generations import Generation

Compile = Callable[[Program, Generation], Compilation]
"""Asks the compiler of a generation."""


def state_of(arguments: tuple[Argument, ...]) -> int:
    """Bytes that are kept between steps."""
    return sum(one.tensor.bytes for one in arguments if one.role in KEPT)


def measure(capture: Capture, generation: Generation, compile_program: Compile) -> StepOnChip:
    """Compile all programs of a step; after one that fails, no more."""
    done: list[Compilation] = []
    for program in capture.programs:
        done.append(compile_program(program, generation))
        if done[-1].failure is not None:
            break
    return assemble(capture, generation, tuple(done))


def assemble(capture: Capture, generation: Generation, compilations: tuple[Compilation, ...]) -> StepOnChip:
    """The step, from what the compiler said of its programs."""
    memories = [one.memory for one in compilations if one.memory is not None]
    works = len(memories) == len(capture.programs)
    flops = _sum(capture, [one.flops for one in compilations]) if works else None
    traffic = _sum(capture, [one.bytes_accessed for one in compilations]) if works else None
    share = 1 / generation.devices
    peak, bandwidth = generation.peak, generation.memory_bandwidth
    return StepOnChip(
        capture,
        generation,
        compilations,
        generation.memory and generation.memory * share,
        max(memories, key=lambda one: one.total) if works else None,
        max((state_of(one.arguments) for one in capture.programs), default=0),
        capture.variant.accumulation * sum(
            one.runs * each.tensor.bytes for one in capture.programs for each in one.arguments if each.role == "input"
        ),
        flops,
        traffic,
        Roofline(
            flops / (peak * share) if peak and flops is not None else None,
            traffic / (bandwidth * share) if bandwidth and traffic is not None else None,
        ),
    )  # fmt: skip


def _sum(capture: Capture, amounts: list[float | None]) -> float | None:
    """Of one optimizer step: a program may run several times in it, and a batch may be divided."""
    known = [one for one in amounts if one is not None]
    if len(known) < len(amounts):
        return None
    each = sum(amount * program.runs for amount, program in zip(known, capture.programs, strict=True))
    return each * capture.variant.accumulation
