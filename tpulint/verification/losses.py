"""Compares two runs, loss by loss."""

from __future__ import annotations

import math
from typing import NamedTuple

from tpulint.verification.records import ProcessRecords

EXACT, ROUNDED = 2e-3, 1e-2
"""Relative tolerances: of float32 on two devices, and of bfloat16."""
ABSOLUTE = 1e-4


class Tolerance(NamedTuple):
    """How far two losses may be apart."""

    relative: float
    absolute: float = ABSOLUTE

    def allows(self, expected: float | None, seen: float | None) -> bool:
        """Whether two losses count as equal."""
        if expected is None or seen is None:
            return expected is seen
        if math.isnan(expected) or math.isnan(seen):
            return math.isnan(expected) and math.isnan(seen)
        return expected == seen or abs(expected - seen) <= self.absolute + self.relative * abs(expected)


class Comparison(NamedTuple):
    """The losses of a port beside those of the original."""

    original: tuple[float | None, ...]
    port: tuple[float | None, ...]
    tolerance: Tolerance
    steps: tuple[int, ...]
    """The step of every backward of the port."""
    first_difference: int | None
    """Index of the first backward whose losses differ."""
    differing: int
    largest_relative: float
    checksums: tuple[tuple[float, float], ...] = ()
    """Of the parameters at the end: for every optimizer that of the original, and of the port."""
    gradients: tuple[tuple[int, int], ...] = ()
    """Parameters that had a gradient: for every optimizer those of the original, and of the port."""
    drops_last: bool = False
    """Whether the original was run with incomplete last batches left out, as the port does."""

    @property
    def is_equal(self) -> bool:
        """Whether both trained alike."""
        return not self.problems()

    def is_nearer(self, other: Comparison) -> bool:
        """Whether less is wrong here than in another comparison of the same port."""
        return len(self.problems()) < len(other.problems())

    def problems(self) -> list[str]:
        """Every difference, in words."""
        found = [
            f"{port} parameters of optimizer {number} had a gradient, in the original {original}"
            for number, (original, port) in enumerate(self.gradients, 1)
            if port < original
        ]
        if len(self.original) != len(self.port):
            found.append(f"{len(self.port)} backward passes, the original has {len(self.original)}")
        if self.first_difference is not None:
            index = self.first_difference
            found.append(
                f"losses differ: {self.differing} of {min(len(self.original), len(self.port))}, the first in step "
                f"{self.steps[index]} (backward {index + 1}): {_shown(self.port[index])}, originally "
                f"{_shown(self.original[index])}"
            )
        elif not found:
            for number, (original, port) in enumerate(self.checksums, 1):
                if not self.tolerance.allows(original, port):
                    found.append(
                        f"losses agree, but the parameters of optimizer {number} end at another checksum: "
                        f"{_shown(port)}, originally {_shown(original)}"
                    )
        return found


def compare(
    original: ProcessRecords, port: ProcessRecords, tolerance: Tolerance, drops_last: bool = False
) -> Comparison | None:
    """Both runs; None where the losses of one are not known."""
    if original.losses is None or port.losses is None:
        return None
    pairs = list(zip(original.losses, port.losses, strict=False))
    optimizers = list(zip(original.optimizers, port.optimizers, strict=False))
    alike = [(one, other) for one, other in optimizers if one.numbers == other.numbers]
    differing = [index for index, (a, b) in enumerate(pairs) if not tolerance.allows(a, b)]
    return Comparison(
        original.losses,
        port.losses,
        tolerance,
        tuple(step + 1 for _, step in port.backwards),
        differing[0] if differing else None,
        len(differing),
        max((_relative(a, b) for a, b in pairs), default=0.0),
        tuple((one.checksum, other.checksum) for one, other in alike),
        tuple((one.with_gradient, other.with_gradient) for one, other in alike if one.parameters == other.parameters),
        drops_last,
    )


def _relative(expected: float | None, seen: float | None) -> float:
    if expected is None or seen is None or not (math.isfinite(expected) and math.isfinite(seen)):
        return 0.0
    return abs(expected - seen) / max(abs(expected), 1e-3)


def _shown(value: float | None) -> str:
    return "not a single number" if value is None else f"{value:.6g}"
