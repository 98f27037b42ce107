"""A compiled graph, read from the text that torch_xla writes down (HLO)."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    settings: str
    """Everything else that makes it the operation that it is: the value of a constant, the bounds of a slice."""
    origin: str
    """The operator of torch that it came from, such as ``aten::mul``; may be empty."""
    place: Place | None = None
    """The innermost line of Python that made it, where torch_xla knows it. Backward operations have none."""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What decides whether it is the same operation."""
        return self[:4]


class Graph(NamedTuple):
    """One program."""

    inputs: tuple[Operation, ...]
    operations: tuple[Operation, ...]
    """All others, in the order in which they were traced."""


_NAME = re.compile(r"^\s*(?:ROOT )?%([^ ]+) = ")
_LAYOUT = re.compile(r"\{[\d,:TSED()*]*\}")
_REFERENCE = re.compile(r"%[\w.\-]+")
_COMMENT = re.compile(r"/\*.*?\*/")
_METADATA = re.compile(r",? metadata=\{(.*?)\}(?=,|$)")
_ORIGIN = re.compile(r'op_type="([^"]*)"')
_SOURCE = re.compile(r'source_file="([^"]*)" source_line=(\d+)')
_BRACKETS = {"(": ")", "{": "}"}


def parse(text: str) -> Graph | None:
    """The graph of a dump; None for a text of another form."""
    inputs: list[tuple[int, Operation]] = []
    operations: list[tuple[int, Operation]] = []
    for line in _entry_lines(text):
        found = _parse_line(line)
        if found is not None:
            (inputs if found[1].opcode == "parameter" else operations).append(found)
    if not operations and not inputs:
        return None
    return Graph(_in_order(inputs), _in_order(operations))


def _in_order(numbered: list[tuple[int, Operation]]) -> tuple[Operation, ...]:
    """By number: that is the order of tracing; the text is in another."""
    return tuple(operation for _, operation in sorted(numbered, key=lambda pair: pair[0]))


def _entry_lines(text: str) -> Iterator[str]:
    """The lines of the main computation."""
    is_inside = False
    for line in text.splitlines():
        if line.startswith("ENTRY "):
            is_inside = True
        elif is_inside and line.startswith("}"):
            return
        elif is_inside:
            yield line


def _parse_line(line: str) -> tuple[int, Operation] | None:
    head = _NAME.match(line)
    if head is None:
        return None
    rest = _COMMENT.sub("", line[head.end() :])
    origin, place = "", None
    metadata = _METADATA.search(rest)
    if metadata is not None:
        rest = rest[: metadata.start()] + rest[metadata.end() :]
        source = _SOURCE.search(metadata[1])
        place = Place(source[1], int(source[2])) if source else None
        named = _ORIGIN.search(metadata[1])
        origin = named[1].replace("__", "::", 1) if named else ""
    end = _closing(rest) + 1 if rest.startswith("(") else rest.find(" ")
    shape, call = _LAYOUT.sub("", rest[:end]), rest[end:].strip()
    opcode, _, arguments = call.partition("(")
    close = _closing("(" + arguments)
    inside, settings = arguments[: close - 1], arguments[close:]
    if opcode == "constant":
        settings = f"{inside}{settings}"
    elif opcode == "parameter":
        settings = ""
    number = head[1].rpartition(".")[2]
    settings = _REFERENCE.sub("%", settings).strip(", ")
    return int(number) if number.isdigit() else 0, Operation(opcode, shape, settings, origin, place)


def _closing(text: str) -> int:
    """Where the bracket that the text begins with is closed."""
    opening = text[0]
    closing = _BRACKETS[opening]
    depth = 0
    for index, char in enumerate(text):
        if char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return index
    return len(text)
