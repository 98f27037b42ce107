"""A compiled plan as tables for a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tpulint.planning.compiled import BatchSearch, CompiledPlan, CompileFailure, Scaled, StepOnChip, Variant
from tpulint.planning.estimate import unverified
from tpulint.planning.graph_analysis import analyse
from tpulint.planning.graph_report import sentences
from tpulint.planning.numbers import show_bytes, show_count, show_money, show_seconds
from tpulint.planning.scaling import ABOUT
from tpulint.planning.text_report import render_commands, render_doubts, render_prices, table

TITLE = "compiled, not run: what libtpu's compiler says of the traced step; times and costs are lower bounds"
_SLICES_SHOWN = 4
"""Of each generation and strategy; JSON has all."""


def render(plan: CompiledPlan) -> Iterator[str]:
    """A whole plan."""
    yield f"{TITLE}\n\n"
    versions = ", ".join(f"{name} {version}" for name, version in plan.versions.items())
    command = " ".join([plan.script, *plan.arguments])
    yield f"script   {command}\n"
    yield f"tools    {versions}\n"
    yield from _step(plan.steps[0])
    yield "\n"
    yield from table([_HEAD, *(_row(one.generation.name, one) for one in plan.steps)])
    yield from _failures(plan.steps)
    yield from _graphs(plan.steps[0])
    if plan.variants:
        base = plan.steps[0]
        yield f"\nOther ways to run it, on {base.generation.name}:\n"
        yield from table(
            [_HEAD, _row("as it stands", base), *(_row(name(one.capture.variant), one) for one in plan.variants)]
        )
        yield from _failures(plan.variants)
    for search in plan.searches:
        yield from _search(search)
    yield from _scaled(plan)
    yield from (f"note: {note}\n" for note in plan.notes)
    yield from render_commands(plan)


_HEAD = ["", "compiles", "HBM", "of", "without donation (a sum)", "arguments", "temporaries", "new outputs", "program",
         "FLOPs", "HBM traffic", "FLOPs a byte", "step at least", "bound by"]  # fmt: skip


def _step(step: StepOnChip) -> Iterator[str]:
    capture = step.capture
    count = len(capture.programs)
    yield f"step     {show_count(capture.params)} parameters, {count} program{'s' * (count != 1)}; "
    yield f"state {show_bytes(step.state)}, inputs {show_bytes(step.inputs)} (without padding)\n"


def _row(first: str, step: StepOnChip) -> list[str]:
    memory, line = step.memory, step.roofline
    capacity = "-" if step.capacity is None else show_bytes(step.capacity)
    if memory is None:
        failure = step.failure
        said = "too large" if failure and failure.kind == "out-of-memory" else "no"
        used = show_bytes(failure.used) if failure and failure.used else "-"
        return [first, said, used, capacity, *["-"] * 10]
    return [
        first, "yes", show_bytes(memory.total), capacity, show_bytes(memory.undonated), show_bytes(memory.arguments),
        show_bytes(memory.temporaries), show_bytes(memory.outputs - memory.aliased), show_bytes(memory.code),
        "-" if step.flops is None else f"{step.flops:.3g}",
        "-" if step.bytes_accessed is None else show_bytes(step.bytes_accessed),
        "-" if step.intensity is None else f"{step.intensity:{'.0f' if step.intensity >= 10 else '.2g'}}",
        "-" if line.seconds is None else show_seconds(line.seconds), line.bound or "-",
    ]  # fmt: skip


def _graphs(step: StepOnChip) -> Iterator[str]:
    """What stands in the graphs that costs without need: the same for all generations but for the size of tiles."""
    for program in step.capture.programs:
        for sentence in sentences(analyse(program.text, step.generation)):
            yield f"graph: {sentence}\n"


def name(variant: Variant) -> str:
    """What was changed."""
    words = [word for word, is_on in (("bf16", variant.bf16), ("checkpointing", variant.checkpointing)) if is_on]
    if variant.accumulation > 1:
        words.append(f"{variant.accumulation} parts of {variant.batch}")
    elif variant.batch is not None:
        words.append(f"batch {variant.batch}")
    return ", ".join(words) or "as it stands"


def _failures(steps: tuple[StepOnChip, ...]) -> Iterator[str]:
    for step in steps:
        if step.failure is not None:
            yield f"{step.generation.name}: {_failure(step.failure)}\n"


def _failure(failure: CompileFailure) -> str:
    where = f" ({os.path.relpath(failure.place.path)}:{failure.place.row})" if failure.place else ""
    operator = f"{failure.operator}{where}: " if failure.operator else ""
    return f"{failure.kind}: {operator}{failure.message}"


def _search(search: BatchSearch) -> Iterator[str]:
    yield f"\nBatches on {search.generation} ({search.argument}), each compiled:\n"
    yield from table([_HEAD, *(_row(str(one.capture.variant.batch), one) for one in search.probes)])
    if search.largest is None:
        yield "no batch fits\n"
    else:
        refused = f", {search.refused} is refused" if search.refused is not None else ""
        yield f"largest that fits: {search.largest}{refused}\n"
    told = "none of those tried" if search.compute_bound is None else str(search.compute_bound)
    yield f"smallest bound by the matrix unit: {told}\n"
    if search.ended_by != "exact":
        ended = {"compiles": "the limit of compilations (--max-compiles)", "time": "the limit of time"}
        yield f"the search ended by {ended.get(search.ended_by, search.ended_by)}\n"


def _scaled(plan: CompiledPlan) -> Iterator[str]:
    if not plan.scaled:
        return
    yield f"\nSlices, on paper. {ABOUT}\n"
    rows = [["", "strategy", "slice", "chips", "memory of a device", "step at least", "sent by a chip",
             "epoch at least", "run at least", "run on demand", "run spot"]]  # fmt: skip
    shown: dict[tuple[str, str], int] = {}
    for one in plan.scaled:
        key = (one.generation.name, one.strategy)
        shown[key] = shown.get(key, 0) + 1
        if shown[key] <= _SLICES_SHOWN or one == plan.chosen:
            rows.append(_slice(one))
    yield from table(rows)
    yield f"Run: {plan.epochs} x {plan.steps_per_epoch} steps of the captured batch, shared by all devices. "
    yield from render_prices(plan.prices, [one.name for one in plan.generations])
    yield from render_doubts(unverified(plan.generations))


def _slice(one: Scaled) -> list[str]:
    times = [
        "-" if each is None else show_seconds(each) for each in (one.step_seconds, one.epoch_seconds, one.run_seconds)
    ]
    costs = ["-" if each is None else show_money(each) for each in (one.run_on_demand, one.run_spot)]
    sent = show_bytes(one.collective_bytes) if one.collective_bytes else "-"
    sent += " ?" if one.collective_seconds is None else ""
    return [one.generation.name, one.strategy, one.slice.type or "-", str(one.slice.chips), show_bytes(one.memory),
            times[0], sent, *times[1:], *costs]  # fmt: skip
