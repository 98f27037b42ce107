"""What is known of a generation of TPUs, or of a GPU: figures, each with the page that states it, and slices."""

from __future__ import annotations

import math
from typing import NamedTuple

UNIT_BYTES = {"GB": 10**9, "GiB": 2**30}
"""Pages give memory in both; they differ by 7 %."""


class Figure(NamedTuple):
    """One number or word with its source."""

    value: float | str
    unit: str
    """Empty for words and counts that say themselves what they count."""
    page: str
    """Key of ``Hardware.pages``."""
    verified: bool = True
    """Whether the vendor's documentation, as read, states it without contradiction."""
    note: str = ""

    @property
    def number(self) -> float:
        """The value of a figure that is a number."""
        assert not isinstance(self.value, str)
        return self.value

    @property
    def shown(self) -> str:
        """Value and unit."""
        value = self.value if isinstance(self.value, str) else f"{self.value:g}"
        return f"{value} {self.unit}".rstrip()


class Slice(NamedTuple):
    """Chips that can be had together."""

    type: str
    """What ``--accelerator-type`` takes; empty where that is not how they are created."""
    chips: int
    topology: str
    """``4x8``; empty where no page gives one."""
    verified: bool = True

    @property
    def sides(self) -> tuple[int, ...]:
        """Chips along each axis of the topology."""
        return tuple(map(int, self.topology.split("x"))) if self.topology else ()

    @property
    def ports_used(self) -> float:
        """Share of a chip's ports that lead to another chip. An axis has two; a side of 2 uses one, of 1 none."""
        if not self.sides:
            return 1.0
        return sum(min(side - 1, 2) for side in self.sides) / (2 * len(self.sides))


class Generation(NamedTuple):
    """A kind of chip."""

    name: str
    title: str
    kind: str
    """``tpu`` or ``gpu``."""
    figures: dict[str, Figure]
    slices: tuple[Slice, ...]
    """By number of chips, smallest first."""
    slices_page: str
    note: str = ""

    @property
    def devices(self) -> int:
        """What a program sees of one chip: each has its share of memory and of arithmetic."""
        return int(self.figures["devices"].number)

    @property
    def memory(self) -> float | None:
        """Bytes of HBM of a chip."""
        figure = self.figures.get("hbm")
        return figure.number * UNIT_BYTES[figure.unit] if figure else None

    @property
    def memory_bandwidth(self) -> float | None:
        """Bytes a second between a chip and its HBM."""
        return self._scaled("hbm_bandwidth", 1e9)

    @property
    def peak(self) -> float | None:
        """Operations a second of a chip in bf16."""
        return self._scaled("peak_bf16", 1e12)

    @property
    def interconnect(self) -> float | None:
        """Bytes a second that a chip can send over all its ports: half of what pages give for both directions."""
        return self._scaled("ici", 1e9 / 2)

    def _scaled(self, name: str, factor: float) -> float | None:
        figure = self.figures.get(name)
        return figure.number * factor if figure else None


class Hardware(NamedTuple):
    """All generations."""

    pages: dict[str, str]
    """Address of each page by its key."""
    generations: dict[str, Generation]
    """By name; TPUs from the oldest to the newest, then GPUs."""


def chips_of(topology: str) -> int:
    """Chips of ``4x8``."""
    return math.prod(map(int, topology.split("x")))
