"""A plan for a script: capture its step, compile it for some generations, scale it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from tpulint.planning import batches, capturing
from tpulint.planning.batches import BatchOption, Limits
from tpulint.planning.capturing import CannotCapture, capture
from tpulint.planning.commands import Command, commands
from tpulint.planning.compiled import (
    ACCUMULATION,
    BF16,
    CHECKPOINTING,
    BatchSearch,
    Capture,
    Compilation,
    CompiledPlan,
    Program,
    Roofline,
    Scaled,
    StepOnChip,
    Variant,
)
from tpulint.planning.compiling import Compiling, compile_program
from tpulint.planning.data import Prices
from tpulint.planning.generations import Generation
from tpulint.planning.scaling import cheapest, scale
from tpulint.planning.steps_on_chips import measure

VARIANTS = (BF16, CHECKPOINTING, ACCUMULATION)
_AS_PRINTED = (
    "{}: the compiler died of the step alone, and was asked for it with all tensors that live beside it, such as "
    "batches that wait in a loader: HBM counts these, too."
)
_PARTS = 4
"""Parts that a batch is divided into to show what accumulation does; 2 where it cannot be divided by it."""


class Wishes(NamedTuple):
    """What somebody wants to know of a script."""

    script: str
    arguments: tuple[str, ...]
    generations: tuple[Generation, ...]
    gpus: tuple[Generation, ...]
    prices: Prices
    batch: int | None = None
    search: bool = False
    batch_argument: str = ""
    limits: Limits = Limits()
    variants: tuple[str, ...] = ()
    """Of ``VARIANTS``, compiled for the first generation."""
    steps_per_epoch: int = 1000
    epochs: int = 1
    spot: bool = False
    name: str = "tpulint-run"
    zone: str = ""


def make(
    wishes: Wishes, settings: capturing.Settings, compiling: Compiling, announce: Callable[[str], None]
) -> CompiledPlan:
    """Everything that was wished for. Raises ``CannotCapture``."""
    return _Planner(wishes, settings, compiling, announce).make()


class _Planner:
    def __init__(
        self, wishes: Wishes, settings: capturing.Settings, compiling: Compiling, announce: Callable[[str], None]
    ) -> None:
        self._wishes = wishes
        self._settings = settings
        self._compiling = compiling
        self._announce = announce
        self._captures: dict[Variant, Capture] = {}
        self._notes: list[str] = []

    def make(self) -> CompiledPlan:
        wishes, compiler = self._wishes, self._compiling.compiler
        option = self._option()
        as_it_stands = Variant(batch=wishes.batch)
        captured = self._capture(as_it_stands, option)
        steps = tuple(self._measure(captured, one) for one in wishes.generations)
        variants = tuple(self._variants(as_it_stands, option))
        searches = tuple(self._search(one, option) for one in wishes.generations) if wishes.search and option else ()
        scaled = tuple(self._scale(steps))
        chosen = cheapest(tuple(one for one in scaled if one.generation.kind == "tpu"), wishes.spot)
        versions = {
            "torch": self._settings.interpreter.torch, "torch_xla": self._settings.interpreter.torch_xla,
            "jax": compiler.jax, "libtpu": compiler.libtpu,
        }  # fmt: skip
        return CompiledPlan(
            wishes.script, wishes.arguments, versions, steps, variants, searches, scaled, wishes.steps_per_epoch,
            wishes.epochs, wishes.spot, wishes.prices, chosen, self._commands(chosen),
            tuple(dict.fromkeys((*captured.notes, *self._notes))),
        )  # fmt: skip

    def _option(self) -> BatchOption | None:
        """The script's batch option, where it is needed. Raises ``CannotCapture``."""
        wishes = self._wishes
        if not (wishes.batch or wishes.search or ACCUMULATION in wishes.variants):
            return None
        with open(wishes.script, encoding="utf-8", errors="replace") as file:
            option = batches.find_option(file.read(), wishes.arguments, wishes.batch_argument)
        if option is not None and (wishes.batch is not None or option.value is not None):
            return option
        if not (wishes.batch or wishes.search):
            self._notes.append("Accumulation was left out: no option of the script is known to set the batch.")
            return None
        if option is None:
            raise CannotCapture(
                "no option of the script is known to set the batch: name it with --batch-argument, such as "
                "--batch-argument=--batch-size"
            )
        raise CannotCapture(
            f"it is not known which batch {option.flag} stands for: give it to the script, such as "
            f"`-- {option.flag} 32`"
        )

    def _capture(self, variant: Variant, option: BatchOption | None) -> Capture:
        """Once for each variant."""
        if variant not in self._captures:
            arguments = self._wishes.arguments
            what = os.path.basename(self._wishes.script)
            if option is not None and variant.batch is not None:
                arguments = batches.with_batch(arguments, option, variant.batch)
                what += f", batch {variant.batch}"
            self._announce(f"tracing a step of {what}")
            self._captures[variant] = capture(self._wishes.script, arguments, variant, self._settings)
        return self._captures[variant]

    def _measure(self, captured: Capture, generation: Generation) -> StepOnChip:
        def compile_one(program: Program, wanted: Generation) -> Compilation:
            batch = "" if captured.variant.batch is None else f", batch {captured.variant.batch}"
            self._announce(f"compiling for {wanted.name}{batch}")
            done = compile_program(program, wanted, self._wishes.script, self._compiling)
            if done.as_printed:
                self._notes.append(_AS_PRINTED.format(wanted.name))
            return done

        return measure(captured, generation, compile_one)

    def _variants(self, base: Variant, option: BatchOption | None) -> list[StepOnChip]:
        changed = []
        for name in self._wishes.variants:
            if name == BF16:
                changed.append((name, base._replace(bf16=True)))
            elif name == CHECKPOINTING:
                changed.append((name, base._replace(checkpointing=True)))
            elif option is not None and (parts := self._parts(option)) is not None:
                changed.append((name, parts))
        found = []
        unchanged = _operations(self._captures[base])
        for name, variant in changed:
            try:
                captured = self._capture(variant, option)
            except CannotCapture as error:
                self._notes.append(f"{name}: {error}")
                continue
            if _operations(captured) == unchanged:
                self._notes.append(f"{name}: changes nothing in the step of this script.")
                continue
            self._notes.extend(note for note in captured.notes if note not in self._notes)
            found.append(self._measure(captured, self._wishes.generations[0]))
        return found

    def _parts(self, option: BatchOption) -> Variant | None:
        batch = self._wishes.batch or option.value or 1
        for parts in (_PARTS, 2):
            if batch % parts == 0 and batch > parts:
                return Variant(batch=batch // parts, accumulation=parts)
        self._notes.append(f"accumulation: a batch of {batch} cannot be divided.")
        return None

    def _search(self, generation: Generation, option: BatchOption) -> BatchSearch:
        start = self._wishes.batch or option.value or 1

        def probe(batch: int) -> StepOnChip:
            captured = self._capture(Variant(batch=batch), option)
            inputs = [one.tensor for program in captured.programs for one in program.arguments if one.role == "input"]
            if not any(batch in one.shape or any(side % batch == 0 for side in one.shape) for one in inputs):
                raise CannotCapture(f"{option.flag} {batch} does not change what goes into the step")
            return self._measure(captured, generation)

        return batches.search(generation, option, start, probe, self._wishes.limits)

    def _scale(self, steps: tuple[StepOnChip, ...]) -> list[Scaled]:
        """All slices; a GPU by the arithmetic and traffic of the first TPU that it was compiled for."""
        wishes = self._wishes
        working = [one for one in steps if one.memory is not None and one.flops and one.bytes_accessed]
        if not working:
            return []
        most = max(working, key=lambda one: one.capacity or 0)
        found: list[Scaled] = []
        for step in (*steps, *(_elsewhere(working[0], gpu) for gpu in wishes.gpus)):
            failed = step.failure is not None and step.failure.kind != "out-of-memory"
            memory = step.memory or most.memory
            if failed or memory is None:
                continue
            if step.memory is None:
                step = _elsewhere(most, step.generation)
            price = wishes.prices.chip_hours.get(step.generation.name)
            found.extend(scale(step, memory.total, wishes.steps_per_epoch, wishes.epochs, price))
        return found

    def _commands(self, chosen: Scaled | None) -> tuple[Command, ...]:
        wishes = self._wishes
        if chosen is None:
            return ()
        return commands(
            chosen.generation, chosen.slice, name=wishes.name, zone=wishes.zone, spot=wishes.spot,
            script=wishes.script, arguments=wishes.arguments,
        )  # fmt: skip


def _operations(captured: Capture) -> list[str]:
    """The graphs without source lines: a variant that changes nothing may still be called from elsewhere."""
    return [one.digest for one in captured.programs]


def _elsewhere(step: StepOnChip, other: Generation) -> StepOnChip:
    """The same arithmetic and traffic with the figures of a chip that it was not compiled for."""
    peak, bandwidth, share = other.peak, other.memory_bandwidth, 1 / other.devices
    return step._replace(
        generation=other,
        compilations=(),
        capacity=other.memory and other.memory * share,
        roofline=Roofline(
            step.flops / (peak * share) if peak and step.flops else None,
            step.bytes_accessed / (bandwidth * share) if bandwidth and step.bytes_accessed else None,
        ),
    )
