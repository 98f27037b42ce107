"""Every compilation of a run, and what made it necessary."""

from __future__ import annotations

import os
from typing import NamedTuple

from tpulint.verification.causes import Cause, explain, nearest
from tpulint.verification.graphs import Graph, parse
from tpulint.verification.records import Line, ProcessRecords, Recording, Work

WARM_UP = 3
"""Steps in which compiling is expected: with the first graph, with the optimizer's state, and with what else appears."""


class Compilation(NamedTuple):
    """One graph that was compiled."""

    work: Work
    """The launch that needed it."""
    cause: Cause | None
    """None for the first graph of a line, and where the text of the graph is not known."""
    lines: tuple[Line, ...]
    """Lines of the user's code that made what changed; more than one where a library was called from several."""
    is_expected: bool
    """Whether it belongs to the first steps of every training: the first graph, and those that take in what the first
    step has made, such as the state of the optimizer."""

    @property
    def line(self) -> Line | None:
        """The line to blame: that which made what changed, else the one that launched the graph."""
        return self.lines[0] if self.lines else self.work.line


def compilations(recording: Recording) -> list[Compilation]:
    """All of them, in order."""
    return [found for process in recording.processes for found in _of_process(recording.folder, process)]


def _of_process(folder: str, process: ProcessRecords) -> list[Compilation]:
    callers = dict(process.callers)
    earlier: dict[tuple[Line | None, bool, int], list[Graph]] = {}
    """Of several graphs that one line launches one after the other, each has predecessors of its own."""
    launched: set[tuple[Line | None, bool]] = set()
    found = []
    for work in process.works:
        key = (work.line, work.is_boundary)
        for place, number in enumerate(work.graphs):
            graph = _load(folder, process.pid, number)
            if graph is None:
                found.append(Compilation(work, None, (), key not in launched))
            else:
                known = earlier.setdefault((*key, place), [])
                found.append(_compilation(work, graph, known, callers.get(number, {})))
                known.append(graph)
            launched.add(key)
        for _ in range(work.compiles - len(work.graphs)):
            # Without a text nothing tells a first graph with the optimizer's state from one that changed.
            found.append(Compilation(work, None, (), (work.is_boundary and work.step <= 2) or key not in launched))
            launched.add(key)
    return found


def _compilation(work: Work, graph: Graph, earlier: list[Graph], callers: dict[str, list[Line]]) -> Compilation:
    if not earlier:
        return Compilation(work, None, (), True)
    cause = explain(nearest(graph, earlier), graph)
    place = cause.place
    lines = callers.get(f"{place.path}:{place.row}", []) if place is not None else []
    is_expected = cause.kind == "state" or (cause.kind == "added" and work.in_step <= WARM_UP)
    return Compilation(work, cause, tuple(lines), is_expected)


def _load(folder: str, pid: int, number: int) -> Graph | None:
    try:
        with open(os.path.join(folder, f"graph-{pid}-{number}.txt"), encoding="utf-8", errors="replace") as file:
            return parse(file.read())
    except OSError:
        return None
