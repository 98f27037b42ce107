"""Why each graph of a run was compiled: compared with those that the same line launched before."""

from __future__ import annotations

from typing import NamedTuple

from tpulint_runtime.graphs import Cause, Graph, explain, nearest, parse
from tpulint_runtime.ownership import Line

Launcher = tuple[Line | None, bool, int]
"""The line that launches, whether a step boundary asked for it, and the calls that led to the line, where they are
known: a function that both trains and evaluates launches two graphs."""


class Compiled(NamedTuple):
    """What a graph is, beside those before it."""

    cause: Cause | None
    """None for the first of its launcher."""


class CompiledGraphs:
    """All graphs that were compiled so far, by their launchers."""

    def __init__(self) -> None:
        self._earlier: dict[tuple[Launcher, int], list[Graph]] = {}
        """Of several that are launched one after the other, each has predecessors of its own."""

    def compare(self, text: str, launcher: Launcher, position: int) -> Compiled | None:
        """What a new graph is, which was the n-th one that was launched at once; None for a text that is no graph."""
        graph = parse(text)
        if graph is None:
            return None
        earlier = self._earlier.setdefault((launcher, position), [])
        cause = explain(nearest(graph, earlier), graph) if earlier else None
        earlier.append(graph)
        return Compiled(cause)
