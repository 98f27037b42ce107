"""The words of a porting report that all of its forms share."""

from __future__ import annotations

from tpulint.porting.survey import BY_HAND, REPLACEMENT, REVIEW, Loop

ESTIMATE = (
    f"Effort is a rule of thumb: {REVIEW} minutes to review an unsafe fix, {BY_HAND} for what has no fix, "
    f"{REPLACEMENT // 60} hours for a library without a counterpart; testing is not counted."
)
_CATEGORIES = {
    "host_sync": "wait for the device", "recompile": "compile anew", "step": "the step itself", "device": "device",
    "precision": "precision", "data": "data", "distributed": "several processes", "checkpoint": "checkpoints and seeds",
    "frameworks": "frameworks", "versions": "stale names", "environment": "environment",
}  # fmt: skip


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def effort(minutes: int) -> str:
    """``40 min``, ``3 h``, ``2.5 days`` of eight hours."""
    if minutes < 60:
        return f"{minutes} min"
    hours = minutes / 60
    return f"{hours:.1f}".removesuffix(".0") + " h" if hours < 16 else f"{hours / 8:.1f}".removesuffix(".0") + " days"


def costs(loop: Loop) -> str:
    """What is found in each step of a loop, by category."""
    listed = ", ".join(f"{number} {_CATEGORIES.get(category, category)}" for category, number in loop.costs)
    return listed or "nothing found"
