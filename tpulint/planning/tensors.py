"""Tensors of a graph, and lines of source: what the analyses of a graph speak about."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

DYNAMIC = -1
"""Size of a dimension that the graph leaves open."""
_BITS = {"i1": 8, "i2": 2, "i4": 4, "ui2": 2, "ui4": 4, "index": 64, "complex<f32>": 64, "complex<f64>": 128}
"""Types whose size is not the number in their name. A boolean takes a byte."""


class Place(NamedTuple):
    """A line of a file."""

    path: str
    row: int

    @property
    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {"filename": self.path, "row": self.row}


class Tensor(NamedTuple):
    """Type and shape, as StableHLO writes them."""

    dtype: str
    """``f32``, ``bf16``, ``i64``, ``i1``."""
    shape: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """Numbers in it; dimensions that are left open count as 1."""
        return math.prod(size for size in self.shape if size != DYNAMIC)

    @property
    def number_bytes(self) -> float:
        """Size of one number; below 1 for types of less than a byte."""
        bits = _BITS.get(self.dtype)
        if bits is None:
            digits = self.dtype.lstrip("abcdefghijklmnopqrstuvwxyz").partition("E")[0]
            bits = int(digits) if digits.isdigit() else 0
        return bits / 8

    @property
    def bytes(self) -> int:
        """Size without padding."""
        return math.ceil(self.numbers * self.number_bytes)

    @property
    def is_dynamic(self) -> bool:
        """Whether a dimension is left open."""
        return DYNAMIC in self.shape

    def __str__(self) -> str:
        sizes = "x".join("?" if size == DYNAMIC else str(size) for size in self.shape)
        return f"{self.dtype}[{sizes}]"
