"""What a log says, by the lines of the user's code."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from tpulint.xla_logs.events import Event, Frame

WARM_UP = 2
"""Graphs of a step boundary that are normal: the first, and the one that takes in the optimizer's state."""

_KINDS = (
    ("read", ("trying to access tensor value",)),
    ("loader", ("parallel loader",)),
    ("cleared", ("clear the pending graph",)),
    ("dynamo", ("dynamo",)),
    ("compile", ("torch_xla.compile",)),
    ("boundary", ("torch_xla.sync", "mark_step")),
)
"""Kinds of causes, with words of torch_xla's that tell them. The first that fits."""
_TORCH = re.compile(r"[\\/]torch_xla[\\/]|[\\/](?:site|dist)-packages[\\/](?:torch|functorch)[\\/]|^<")
_INSTALLED = re.compile(r"[\\/](?:site-packages|dist-packages)[\\/]|[\\/]lib[\\/]python3(?:\.\d+)?[\\/]")


class Place(NamedTuple):
    """Where graphs came from."""

    kind: str
    """``read``: a value was read that was still to be computed. ``boundary``, ``loader``: a step boundary, by itself or
    in a device loader. ``compile``, ``cleared``: ``torch_xla.compile``, or what was pending when it began. ``dynamo``:
    ``torch.compile``. ``other``: words of torch_xla that are not known."""
    cause: str
    """The words of torch_xla."""
    frame: Frame | None
    """The innermost frame of the user's code; None if torch_xla wrote none."""
    frames: tuple[Frame, ...]
    """All frames of the first event."""


class Tally:
    """What happened at one place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.compiles = 0
        self.runs = 0
        self.graphs: dict[str, None] = {}
        """Hashes, in the order of their first event."""

    @property
    def is_costly(self) -> bool:
        """Whether it costs more than every training pays: a value that is read again and again before it is computed,
        or a graph that keeps changing."""
        if self.place.kind == "read":
            return max(self.compiles, self.runs) > 1
        return len(self.graphs) > WARM_UP and self.compiles > WARM_UP


class GraphTally(NamedTuple):
    """One distinct graph."""

    name: str
    inputs: int
    outputs: int
    compiles: int
    runs: int


class Summary:
    """Adds up events. Holds one entry for each place and each graph."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, Frame | None], Tally] = {}
        self.graphs: dict[str, GraphTally] = {}
        self.compiles = 0
        self.runs = 0
        self.forbidden = 0
        """Runs that ended the program, because ``full_graph=True`` allows none there."""

    def add(self, event: Event) -> None:
        """Take in an event."""
        graph = self.graphs.get(event.graph) or GraphTally(event.name, event.inputs, event.outputs, 0, 0)
        is_run = not event.is_compilation
        self.compiles += event.is_compilation
        self.runs += is_run
        self.forbidden += event.is_forbidden
        self.graphs[event.graph] = graph._replace(
            compiles=graph.compiles + event.is_compilation, runs=graph.runs + is_run
        )
        kind, frame = kind_of(event.cause), next(iter(own_frames(event.frames)), None)
        tally = self._tallies.get((kind, frame))
        if tally is None:
            tally = self._tallies[kind, frame] = Tally(Place(kind, event.cause, frame, event.frames))
        tally.compiles += event.is_compilation
        tally.runs += is_run
        tally.graphs[event.graph] = None

    @property
    def tallies(self) -> list[Tally]:
        """All places, those that compiled most first."""
        return sorted(self._tallies.values(), key=lambda one: (-one.is_costly, -one.compiles, -one.runs))


def kind_of(cause: str) -> str:
    """The kind of a cause in the words of torch_xla."""
    return next((kind for kind, words in _KINDS if any(word in cause for word in words)), "other")


def own_frames(frames: tuple[Frame, ...]) -> list[Frame]:
    """The frames of the user's code; without one, those outside of torch."""
    outside = [frame for frame in frames if not _TORCH.search(frame.path)]
    return [frame for frame in outside if not _INSTALLED.search(frame.path)] or outside


def find_source(path: str, folder: str) -> str:
    """A file of the log on this machine: where it was, or below a folder by the end of its path; empty for none."""
    if os.path.isfile(path):
        return path
    parts = path.replace("\\", "/").split("/")
    for start in range(1, len(parts)):
        candidate = os.path.join(folder, *parts[start:])
        if os.path.isfile(candidate):
            return os.path.normpath(candidate)
    return ""
