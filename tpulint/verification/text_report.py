"""A verification for people to read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby

from tpulint.report.style import Style, printable
from tpulint.verification.compiles import WARM_UP
from tpulint.verification.costs import Cost
from tpulint.verification.losses import Comparison
from tpulint.verification.numbers import count
from tpulint.verification.predictions import Prediction, Predictions
from tpulint.verification.records import Line, Optimizer
from tpulint.verification.verification import Numbers, Verification

_ENDINGS = {
    "finished": "to the end",
    "stopped": "and stopped there",
    "timeout": "until the time was up",
    "failed": "until it failed",
}
_LOOKS = {"sync": "yellow", "transfer": "cyan", "compile": "red", "fallback": "red", "cuda": "yellow"}
_NEAR = 4
"""Rows within which a finding needs no place: it stands in the same statement, most likely."""
_KIND_WIDTH = len("transfer") + 1


def render(verification: Verification, predictions: Predictions, style: Style) -> Iterator[str]:
    """The report, line by line."""
    wishes, process = verification.wishes, verification.process
    steps = count(process.steps, "step")
    where = f"XLA ({wishes.pjrt_device}, torch_xla {verification.interpreter.torch_xla})"
    yield f"{style.paint(wishes.script, 'bold')} on {where}: {steps} {_ENDINGS[verification.ending]}\n"
    for (path, row), group in groupby(verification.costs, key=lambda one: (one.line.path, one.line.row)):
        yield "\n"
        yield f"{style.paint(_place(Line(path, row, '')), 'bold')}  {printable(predictions.source(path, row))}\n"
        for cost in group:
            yield _cost(cost, predictions, style, process.steps)
    yield "\n"
    yield from _numbers(verification)
    yield from (f"optimizer: {_optimizer(one)}\n" for one in process.optimizers)
    if verification.comparison is not None:
        yield f"losses: {_losses(verification.comparison, wishes.against)}\n"
    yield from (f"note: {printable(note)}\n" for note in verification.notes)
    yield from _verdict(verification, style)


def _cost(cost: Cost, predictions: Predictions, style: Style, steps: int) -> str:
    kind = style.paint(cost.kind.ljust(_KIND_WIDTH), _LOOKS[cost.kind])
    predicted = predictions.of(cost)
    if predicted:
        joined = "predicted: " + ", ".join(_prediction(one, cost) for one in predicted)
    else:
        joined = "not predicted"
    return f"    {kind} {printable(cost.text)}, {_how_often(cost, steps)}  {style.paint(f'[{joined}]', 'dim')}\n"


def _prediction(prediction: Prediction, cost: Cost) -> str:
    where = "" if abs(prediction.row - cost.line.row) < _NEAR else f" in line {prediction.row}"
    return f"{prediction.code} {prediction.name}{where}"


def _how_often(cost: Cost, steps: int) -> str:
    times = count(cost.times, "time")
    in_steps = [step for step in cost.steps if step]
    if not cost.steps:
        return times
    if not in_steps:
        return f"{times}, before the first step"
    if len(in_steps) == 1:
        return f"{times}, in step {in_steps[0]}"
    # What comes in the forward pass of step n counts to step n - 1: all but one is every step.
    if len(cost.steps) >= steps:
        return f"{times}, in every step"
    return f"{times}, in {len(cost.steps)} of {steps} steps"


def _numbers(verification: Verification) -> Iterator[str]:
    late_steps = max(0, verification.process.steps - WARM_UP)

    def shown(numbers: Numbers) -> str:
        rate = f", {numbers.late / late_steps:.2f} per step" if late_steps else ""
        return f"{numbers.total} ({numbers.late} after step {WARM_UP}{rate})"

    yield f"compilations: {shown(verification.compiles)}\n"
    yield f"host syncs: {shown(verification.host_syncs)}\n"
    yield f"transfers to the host: {shown(verification.transfers)}\n"


def _optimizer(optimizer: Optimizer) -> str:
    where = " and ".join(optimizer.devices) or "nowhere"
    text = f"{optimizer.kind}, {count(optimizer.steps, 'step')}"
    text += f", {count(optimizer.parameters, 'parameter')} on {where}"
    text += f", {_some(optimizer.with_gradient, optimizer.parameters)} had a gradient"
    if optimizer.changed is not None:
        text += f", {_some(optimizer.changed, optimizer.compared)} changed"
    return text


def _losses(comparison: Comparison, against: str) -> str:
    text = f"{len(comparison.port)} compared with {against}, "
    text += "equal" if comparison.is_equal else "different"
    allowed = comparison.tolerance.relative
    text += f" (largest relative difference {comparison.largest_relative:.2g}, allowed {allowed:g})"
    if comparison.drops_last:
        text += "; incomplete last batches left out of both"
    return text


def _verdict(verification: Verification, style: Style) -> Iterator[str]:
    if not verification.failures:
        yield f"\n{style.paint('passed', 'green')}\n"
        return
    if verification.output:
        yield "\nThe last lines that the script printed:\n"
        yield from (f"    {printable(line)}\n" for line in verification.output)
    yield f"\n{style.paint('failed', 'error')}\n"
    for failure in verification.failures:
        place = f" ({_place(failure.line)})" if failure.line is not None else ""
        yield f"  - {printable(failure.text)}{place}\n"


def _place(line: Line) -> str:
    return f"{os.path.relpath(line.path)}:{line.row}"


def _some(part: int, whole: int) -> str:
    return "all" if part == whole else "none" if not part else f"{part} of {whole}"
