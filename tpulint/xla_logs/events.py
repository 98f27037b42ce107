"""What torch_xla writes with ``PT_XLA_DEBUG``: a block for every graph that it compiles, or runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_MARK = re.compile(r"(Unexpected Execution|Post Compilation|Compilation|Execution) Analysis: ?(.*)")
_FRAME = re.compile(r"  (\S.*) \((.*):(\d+)\)$")
_FIELD = re.compile(r"  (Graph Name|Graph Hash|Number of Graph Inputs|Number of Graph Outputs): (.*)$")
_PROCESS = re.compile(r"\s*[\[(<]?\s*(?:[A-Za-z]+[\w ]*?)?[:=\- ]?(\d+)\s*[\])>]?[:|]?\s*$")
"""What launchers write before every line: ``[rank1]:``, ``0: ``, ``(worker 3)``."""
_TIME = re.compile(r"\d\d?:\d\d")
_RULER = "===="
_LONGEST_STACK = 200


class Frame(NamedTuple):
    """A Python function on the stack, the innermost first."""

    function: str
    path: str
    row: int


class Event(NamedTuple):
    """One graph that was compiled or run."""

    is_compilation: bool
    cause: str
    """In the words of torch_xla; empty where they are missing."""
    graph: str
    """Its hash."""
    name: str
    inputs: int
    outputs: int
    frames: tuple[Frame, ...]
    """The innermost ones; torch_xla writes eight, unless it is told otherwise."""
    is_forbidden: bool = False
    """Whether it ran where ``torch_xla.compile(full_graph=True)`` allows none, and ended the program."""


class Blocks:
    """Reads the blocks of a log. What is between them, and within them without the mark, is left out."""

    def __init__(self) -> None:
        self.has_marks = False
        """Whether anything of torch_xla was found."""
        self.torn = 0
        """Blocks without a graph: something was lost."""

    def events(self, lines: Iterable[str]) -> Iterator[Event]:
        """All events, in the order in which they ended."""
        open_blocks: dict[tuple[str, str], _Block] = {}
        for line in lines:
            mark = _MARK.search(line)
            if mark is None:
                continue
            self.has_marks = True
            kind, text = mark[1], mark[2].rstrip()
            if kind == "Post Compilation":
                continue
            key = (_process(line[: mark.start()]), kind)
            block = open_blocks.get(key)
            if text.startswith(_RULER):
                if block is not None and not block.is_empty:
                    yield from self._end(open_blocks.pop(key))
                continue
            if block is not None and block.is_another(text):
                yield from self._end(block)
                block = None
            if block is None:
                block = open_blocks[key] = _Block(kind)
            block.take(text)
        for block in open_blocks.values():
            if not block.is_empty:
                yield from self._end(block)

    def _end(self, block: _Block) -> Iterator[Event]:
        if block.fields.get("Graph Hash"):
            yield block.event()
        else:
            self.torn += 1


class _Block:
    """A block that is being read."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._cause = ""
        self._is_compilation = kind == "Compilation"
        self._expects_cause = False
        self.fields: dict[str, str] = {}
        self._frames: list[Frame] = []
        self.is_empty = True

    def is_another(self, text: str) -> bool:
        """Whether a line is the first of another block: the end of this one is lost."""
        is_head = text in ("Compilation Cause", "Execution Cause")
        field = _FIELD.match(text)
        return not self.is_empty and (is_head or (field is not None and field[1] in self.fields))

    def take(self, text: str) -> None:
        """The next line."""
        self.is_empty = False
        if text in ("Compilation Cause", "Execution Cause"):
            self._is_compilation = text == "Compilation Cause"
            self._expects_cause = True
            return
        field, frame = _FIELD.match(text), _FRAME.match(text)
        if field is not None:
            self.fields[field[1]] = field[2]
        elif frame is not None and len(self._frames) < _LONGEST_STACK:
            self._frames.append(Frame(frame[1], frame[2], int(frame[3])))
        elif self._expects_cause and text.startswith("  "):
            self._cause = text.strip()
        self._expects_cause = False

    def event(self) -> Event:
        """All of it."""
        fields = self.fields
        return Event(
            self._is_compilation, self._cause, fields["Graph Hash"], fields.get("Graph Name", ""),
            _number(fields.get("Number of Graph Inputs", "")), _number(fields.get("Number of Graph Outputs", "")),
            tuple(self._frames), self._kind == "Unexpected Execution",
        )  # fmt: skip


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _process(before: str) -> str:
    """The process that wrote a line, by what stands before the mark; empty where nothing tells."""
    found = _PROCESS.match(before)
    return found[1] if found is not None and not _TIME.search(before) else ""
