"""Every compilation of a run, and what made it necessary."""

from __future__ import annotations

import os
from typing import NamedTuple

from tpulint.verification.causes import Cause, explain, nearest
from tpulint.verification.graphs import Graph, parse
from tpulint.verification.records import Line, ProcessRecords, Recording, Work

WARM_UP = 3
"""Runs of a line in which compiling is expected: the first graph, then what takes in the optimizer's state."""


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


class _Launcher:
    """A line that launches graphs, at a step boundary or elsewhere."""

    def __init__(self, first_step: int) -> None:
        self.first_step = first_step
        self.runs = 0
        self.graphs: list[list[Graph]] = []
        """Earlier graphs. Of several that are launched one after the other, each has predecessors of its own."""

    def predecessors(self, place: int) -> list[Graph]:
        """Earlier graphs that were launched as the n-th of a run."""
        while len(self.graphs) <= place:
            self.graphs.append([])
        return self.graphs[place]


def _of_process(folder: str, process: ProcessRecords) -> list[Compilation]:
    callers = dict(process.callers)
    launchers: dict[tuple[Line | None, bool], _Launcher] = {}
    found = []
    for work in process.works:
        if not work.launches and not work.compiles:
            continue
        launcher = launchers.setdefault((work.line, work.is_boundary), _Launcher(work.in_step))
        launcher.runs += 1
        for place, number in enumerate(work.graphs):
            graph = _load(folder, process.pid, number)
            if graph is None:
                found.append(Compilation(work, None, (), _is_early(work, launcher)))
                continue
            earlier = launcher.predecessors(place)
            found.append(_compilation(work, launcher, graph, earlier, callers.get(number, {})))
            earlier.append(graph)
        found.extend(
            Compilation(work, None, (), _is_early(work, launcher)) for _ in range(work.compiles - len(work.graphs))
        )
    return found


def _compilation(
    work: Work, launcher: _Launcher, graph: Graph, earlier: list[Graph], callers: dict[str, list[Line]]
) -> Compilation:
    if not earlier:
        return Compilation(work, None, (), True)
    cause = explain(nearest(graph, earlier), graph)
    lines: dict[Line, None] = {}
    for place in cause.places:
        lines |= dict.fromkeys(callers.get(f"{place.path}:{place.row}", ()))
    only_grew = cause.kind in ("state", "added")
    if work.is_boundary:
        is_expected = cause.kind == "state" or (only_grew and launcher.runs <= WARM_UP)
    else:
        # A host sync may launch different graphs in one step: one for each parameter, say.
        is_expected = only_grew or work.in_step == launcher.first_step
    return Compilation(work, cause, tuple(sorted(lines)), is_expected)


def _is_early(work: Work, launcher: _Launcher) -> bool:
    """All that can be said without a text: nothing tells optimizer state from a change."""
    return work.in_step == launcher.first_step or (work.is_boundary and launcher.runs <= WARM_UP)


def _load(folder: str, pid: int, number: int) -> Graph | None:
    try:
        with open(os.path.join(folder, f"graph-{pid}-{number}.txt"), encoding="utf-8", errors="replace") as file:
            return parse(file.read())
    except OSError:
        return None
