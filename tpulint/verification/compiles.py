"""Every compilation of a run, and what made it necessary."""

from __future__ import annotations

from typing import NamedTuple

from tpulint.verification.records import Cause, Line, ProcessRecords, Recording, Work

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
    return [found for process in recording.processes for found in _of_process(process)]


class _Launcher:
    """A line that launches graphs, at a step boundary or elsewhere."""

    def __init__(self, first_step: int) -> None:
        self.first_step = first_step
        self.runs = 0


def _of_process(process: ProcessRecords) -> list[Compilation]:
    graphs = dict(process.graphs)
    launchers: dict[tuple[Line | None, bool, int], _Launcher] = {}
    found = []
    for work in process.works:
        if not work.launches and not work.compiles:
            continue
        # Where it is known who called: a function that both trains and evaluates runs two graphs.
        launcher = launchers.setdefault((work.line, work.is_boundary, work.chain), _Launcher(work.in_step))
        launcher.runs += 1
        for number in work.graphs:
            graph = graphs.get(number)
            if graph is None:
                found.append(Compilation(work, None, (), _is_early(work, launcher)))
            else:
                found.append(Compilation(work, graph.cause, graph.lines, _is_expected(work, launcher, graph.cause)))
        found.extend(
            Compilation(work, None, (), _is_early(work, launcher)) for _ in range(work.compiles - len(work.graphs))
        )
    return found


def _is_expected(work: Work, launcher: _Launcher, cause: Cause | None) -> bool:
    if cause is None:
        return True
    only_grew = cause.kind in ("state", "added")
    if work.is_boundary:
        return cause.kind == "state" or (only_grew and launcher.runs <= WARM_UP)
    # A host sync may launch different graphs in one step: one for each parameter, say.
    return only_grew or work.in_step == launcher.first_step


def _is_early(work: Work, launcher: _Launcher) -> bool:
    """All that can be said without a text: nothing tells optimizer state from a change."""
    return work.in_step == launcher.first_step or (work.is_boundary and launcher.runs <= WARM_UP)
