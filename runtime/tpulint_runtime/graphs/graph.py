"""A graph: its inputs, and what is done with them."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A line of a file."""

    path: str
    row: int


class Operation(NamedTuple):
    """One operation of a graph."""

    opcode: str
    shape: str
    """Element type and size, such as ``f32[32,784]``."""
    settings: tuple[tuple[str, str], ...]
    """Everything else that makes it the operation that it is, by name: the bounds of a slice, say. The value of a
    constant has no name."""
    origin: str
    """The operator of torch that it came from, such as ``aten::mul``; may be empty."""
    place: Place | None = None
    """The innermost line of Python that made it, where it is known. Backward operations have none."""

    @property
    def identity(self) -> tuple[str, str, tuple[tuple[str, str], ...], str]:
        """What decides whether it is the same operation."""
        return self[:4]


class Graph(NamedTuple):
    """One program."""

    inputs: tuple[Operation, ...]
    operations: tuple[Operation, ...]
    """All others, in the order in which they were traced."""
