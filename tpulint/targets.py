"""What fixes are written for: a backend and its version."""

from __future__ import annotations

import re

from tpulint.records import NamedTuple

_CONDITION = r"\s*(>=|<=|==|<|>)\s*(\d+(?:\.\d+)*)\s*$"


class Target(NamedTuple):
    """A backend of PyTorch and the version that must understand the written code."""

    name: str = "torch_xla"
    version: tuple[int, ...] = (2, 9)

    @property
    def label(self) -> str:
        """``torch_xla 2.9``."""
        return f"{self.name} {'.'.join(map(str, self.version))}"


KNOWN_TARGETS = (Target(),)
"""Backends whose facts were measured."""

VERSIONS = ((2, 0), (2, 9))
"""Oldest and newest version (of torch_xla) that cards speak about; a later one is read as a mistake."""


def parse_version(text: str) -> tuple[int, ...]:
    """``"2.9"`` to ``(2, 9)``. Raises ``ValueError``."""
    return tuple(int(part) for part in text.split("."))


def satisfies(version: tuple[int, ...], condition: str) -> bool:
    """Whether a version meets a condition such as ``">=2.5"`` or ``">=2.1,<2.7"``. Raises ``ValueError``."""
    for part in condition.split(","):
        match = re.match(_CONDITION, part)
        if match is None:
            raise ValueError(f"not a version condition: {condition!r}")
        bound = parse_version(match.group(2))
        width = max(len(bound), len(version))
        left = version + (0,) * (width - len(version))
        right = bound + (0,) * (width - len(bound))
        met = {">=": left >= right, "<=": left <= right, "==": left == right, "<": left < right, ">": left > right}
        if not met[match.group(1)]:
            return False
    return True
