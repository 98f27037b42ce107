"""A compiled graph, read from the text that torch_xla writes down (HLO)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint_runtime.graphs.graph import Graph, Operation, Place

_NAME = re.compile(r"^\s*(?:ROOT )?%([^ ]+) = ")
_LAYOUT = re.compile(r"\{[\d,:TSED()*]*\}")
_REFERENCE = re.compile(r"%[\w.\-]+")
_COMMENT = re.compile(r"/\*.*?\*/")
_METADATA = re.compile(r",? metadata=\{(.*?)\}(?=,|$)")
_ORIGIN = re.compile(r'op_type="([^"]*)"')
_SOURCE = re.compile(r'source_file="([^"]*)" source_line=(\d+)')
_SETTING = re.compile(r"(\w+)=(\{(?:[^{}]|\{[^{}]*\})*\}|[^,{}]+)")
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
    if opcode == "parameter":
        settings = ""
    settings = _REFERENCE.sub("%", settings)
    pairs = tuple((name.replace("_", " "), value) for name, value in _SETTING.findall(settings))
    other = inside if opcode == "constant" else _SETTING.sub("", settings).strip(", ")
    if other:
        pairs = (("", other), *pairs)
    number = head[1].rpartition(".")[2]
    return int(number) if number.isdigit() else 0, Operation(opcode, shape, pairs, origin, place)


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
