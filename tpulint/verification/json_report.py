"""A verification as JSON. The format is documented in docs/verify.md, and only ever grows."""

from __future__ import annotations

import math
import os
from typing import Any

from tpulint import __version__
from tpulint.json_output import serialize
from tpulint.verification.compiles import WARM_UP
from tpulint.verification.costs import Cost
from tpulint.verification.losses import Comparison
from tpulint.verification.predictions import Predictions
from tpulint.verification.records import Line, Optimizer
from tpulint.verification.verification import Numbers, Verification

FORMAT = 1


def render(verification: Verification, predictions: Predictions) -> str:
    """One JSON object."""
    wishes, process = verification.wishes, verification.process
    data = {
        "format": FORMAT,
        "tpulint": __version__,
        "script": wishes.script,
        "arguments": list(wishes.arguments),
        "python": verification.interpreter.path,
        "torch": verification.interpreter.torch,
        "torch_xla": verification.interpreter.torch_xla,
        "passed": not verification.failures,
        "failures": [{"kind": one.kind, "message": one.text, **_place(one.line)} for one in verification.failures],
        "ending": verification.ending,
        "seconds": round(verification.seconds, 3),
        "steps": process.steps,
        "backwards": len(process.backwards),
        "warm_up_steps": WARM_UP,
        "compilations": _numbers(verification.compiles),
        "host_syncs": _numbers(verification.host_syncs),
        "transfers": _numbers(verification.transfers),
        "costs": [_cost(one, predictions) for one in verification.costs],
        "optimizers": [_optimizer(one) for one in process.optimizers],
        "losses": _losses(verification.comparison),
        "notes": list(verification.notes),
    }
    return serialize(data) + "\n"


def _place(line: Line | None) -> dict[str, Any]:
    if line is None:
        return {"filename": None, "row": None}
    return {"filename": os.path.relpath(line.path), "row": line.row}


def _numbers(numbers: Numbers) -> dict[str, int]:
    return {"total": numbers.total, "after_warm_up": numbers.late}


def _cost(cost: Cost, predictions: Predictions) -> dict[str, Any]:
    return {
        **_place(cost.line),
        "function": cost.line.function,
        "source": predictions.source(cost.line.path, cost.line.row),
        "kind": cost.kind,
        "message": cost.text,
        "count": cost.times,
        "steps": list(cost.steps),
        "launches": cost.launches,
        "reads": cost.reads,
        "compilations": cost.compiles,
        "predicted_by": [one._asdict() for one in predictions.of(cost)],
    }


def _optimizer(optimizer: Optimizer) -> dict[str, Any]:
    return {
        **optimizer._asdict(), "devices": list(optimizer.devices), "checksum": _finite(optimizer.checksum)
    }  # fmt: skip


def _losses(comparison: Comparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    return {
        "equal": comparison.is_equal,
        "original": [_finite(one) for one in comparison.original],
        "port": [_finite(one) for one in comparison.port],
        "relative_tolerance": comparison.tolerance.relative,
        "absolute_tolerance": comparison.tolerance.absolute,
        "largest_relative_difference": comparison.largest_relative,
        "first_difference": comparison.first_difference,
        "without_incomplete_batches": comparison.drops_last,
    }


def _finite(value: float | None) -> float | str | None:
    """JSON has no word for infinity and not-a-number."""
    return value if value is None or math.isfinite(value) else str(value)
