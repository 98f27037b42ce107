"""Reads what the observer writes: one JSON object per line, one file per process."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple


class Line(NamedTuple):
    """A line of the user's code."""

    path: str
    row: int
    function: str


class Work(NamedTuple):
    """What XLA did because of one line."""

    pid: int
    line: Line | None
    """None for what happened while no code of the user's ran."""
    is_boundary: bool
    """Whether a step boundary asked for it."""
    step: int
    """Steps that had ended before."""
    backward: int
    """Backward passes that had begun."""
    launches: int
    boundaries: int
    compiles: int
    reads: int
    scalars: int
    fallbacks: tuple[tuple[str, int], ...]
    graphs: tuple[int, ...]
    """Numbers of the graphs that were compiled, where their texts are known."""
    is_in_step: bool = False
    """Whether a backward of the step has begun that has not ended."""
    chain: int = -1
    """Number of the calls that led to the line; -1 where they are not known."""

    @property
    def in_step(self) -> int:
        """The step during which it happened, 1 for the first; what comes between two steps belongs to the one before,
        and 0 is what came before the first backward."""
        return self.step + self.is_in_step


class Cause(NamedTuple):
    """What made a graph a new one."""

    kind: str
    """``input``, ``constant``, ``setting``, ``shape``: something changed. ``added``: there are more inputs; ``state``:
    these are what the optimizer made in its first step. ``inputs``, ``operations``, ``outputs``: there are others."""
    text: str
    """In words."""


class Graph(NamedTuple):
    """A graph that was compiled, beside those before it that the same line launched."""

    cause: Cause | None
    """None for the first."""
    lines: tuple[Line, ...]
    """Lines of the user's code that made what changed; more than one where a library was called from several."""


class CudaCall(NamedTuple):
    """A call that names CUDA."""

    line: Line
    name: str
    times: int


class Ending(NamedTuple):
    """How a process said that it ended."""

    how: str
    """``finished``, ``exit``, ``exception``, ``os._exit`` or ``max-steps``."""
    status: int
    error: str
    line: Line | None
    uses_xla: bool


class Optimizer(NamedTuple):
    """An optimizer at the end."""

    kind: str
    steps: int
    parameters: int
    numbers: int
    devices: tuple[str, ...]
    with_gradient: int
    """Parameters that had a gradient at any step."""
    compared: int
    changed: int | None
    """Parameters, of those compared, that changed; None where that is not known."""
    checksum: float
    """Sum of the absolute values of all parameters."""


class ProcessRecords(NamedTuple):
    """Everything one process wrote."""

    pid: int
    works: tuple[Work, ...] = ()
    cuda_calls: tuple[CudaCall, ...] = ()
    steps: int = 0
    backwards: tuple[tuple[str, int], ...] = ()
    """Device and number of ended steps, of every backward."""
    step_seconds: tuple[float, ...] = ()
    ending: Ending | None = None
    losses: tuple[float | None, ...] | None = None
    """None where they were not read."""
    optimizers: tuple[Optimizer, ...] = ()
    graphs: tuple[tuple[int, Graph], ...] = ()
    """Graphs that were compiled, by their numbers."""
    notes: tuple[str, ...] = ()
    started: tuple[str, ...] = ()
    """Commands of other Python processes that it started, and that were not followed."""
    uses_bfloat16: bool = False
    dropping_loaders: int = 0
    """Data loaders that leave out an incomplete last batch."""
    chains: tuple[tuple[tuple[str, int], ...], ...] = ()
    """Calls by which lines were reached, by their numbers. Empty, as what follows, unless coverage was wished for."""
    ran: tuple[Ran, ...] = ()
    happenings: tuple[Happening, ...] = ()


class Ran(NamedTuple):
    """A line that ran, reached by certain calls."""

    path: str
    row: int
    chain: int
    steps: dict[int, int]
    """Number of a step, and how often the line ran in it."""


class Happening(NamedTuple):
    """Where something of training happened."""

    kind: str
    """``update``, ``backward``, ``training-forward``, ``evaluating-forward``, ``loader``, ``uneven-loader``."""
    places: tuple[tuple[str, int], ...]
    """Path and row of the innermost line of the user's code, and of those that called it."""


class Recording(NamedTuple):
    """Everything all processes of a run wrote."""

    folder: str
    processes: tuple[ProcessRecords, ...] = ()
    main_pid: int = 0

    @property
    def main(self) -> ProcessRecords:
        """The process that the script was started in."""
        return next((one for one in self.processes if one.pid == self.main_pid), ProcessRecords(self.main_pid))

    @property
    def training(self) -> ProcessRecords:
        """The process that trained most."""
        return max((self.main, *self.processes), key=lambda one: len(one.backwards))


class Tally(NamedTuple):
    """How far a run is."""

    steps: int = 0
    compiles: int = 0
    host_syncs: int = 0
    has_ended: bool = False


class Reader:
    """Reads on where it stopped: files grow while they are read."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._offsets: dict[str, int] = {}
        self._events: dict[int, list[dict[str, Any]]] = {}
        self._tally = Tally()

    def read(self) -> Recording:
        """What is there by now."""
        self.tally()
        processes = tuple(_records(pid, events) for pid, events in self._events.items())
        return Recording(self._folder, processes)

    def tally(self) -> Tally:
        """Read on, and tell how far the run is."""
        for name in sorted(os.listdir(self._folder)):
            if name.startswith("events-"):
                for event in self._read_file(name):
                    self._count(event)
        return self._tally

    def _count(self, event: dict[str, Any]) -> None:
        tally = self._tally
        if event["event"] == "step":
            self._tally = tally._replace(steps=max(tally.steps, event["number"]))
        elif event["event"] == "end":
            self._tally = tally._replace(has_ended=True)
        elif event["event"] == "work":
            syncs = 0 if event["boundary"] else event["launches"]
            self._tally = tally._replace(
                compiles=tally.compiles + event["compiles"], host_syncs=tally.host_syncs + syncs
            )

    def _read_file(self, name: str) -> list[dict[str, Any]]:
        with open(os.path.join(self._folder, name), "rb") as file:
            file.seek(self._offsets.get(name, 0))
            data = file.read()
        complete = data.rfind(b"\n") + 1
        self._offsets[name] = self._offsets.get(name, 0) + complete
        new = []
        for line in data[:complete].splitlines():
            try:
                new.append(json.loads(line))
            except ValueError:
                continue  # a process died while it wrote
        self._events.setdefault(int(name[len("events-") :].partition(".")[0]), []).extend(new)
        return new


def _records(pid: int, events: list[dict[str, Any]]) -> ProcessRecords:
    of: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        of.setdefault(event["event"], []).append(event)
    steps = of.get("step", [])
    begun = [one["step"] for one in of.get("backward", [])]
    losses = of.get("losses", [])
    ends = of.get("end", [])
    return ProcessRecords(
        pid,
        works=tuple(_work(pid, event, begun) for event in of.get("work", [])),
        cuda_calls=tuple(CudaCall(Line(*one["line"]), one["name"], one["count"]) for one in of.get("cuda", [])),
        steps=int(steps[-1]["number"]) if steps else 0,
        backwards=tuple((one["device"], one["step"]) for one in of.get("backward", [])),
        step_seconds=tuple(float(one["seconds"]) for one in steps),
        ending=_ending(ends[0]) if ends else None,
        losses=tuple(losses[0]["values"]) if losses else None,
        optimizers=tuple(
            Optimizer(**{**one, "devices": tuple(one["devices"])})
            for event in of.get("optimizers", [])
            for one in event["optimizers"]
        ),
        graphs=tuple((one["number"], _graph(one)) for one in of.get("graph", [])),
        notes=tuple(one["text"] for one in of.get("note", [])),
        started=tuple(one["command"] for one in of.get("process", [])),
        uses_bfloat16="bfloat16" in of,
        dropping_loaders=len(of.get("dropping", [])),
        chains=tuple(_places(one["places"]) for one in of.get("chain", [])),
        ran=tuple(
            Ran(path, row, chain, dict(steps)) for one in of.get("ran", []) for path, row, chain, steps in one["rows"]
        ),
        happenings=tuple(Happening(one["kind"], _places(one["places"])) for one in of.get("happened", [])),
    )


def _places(places: list[list[Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((path, row) for path, row in places)


def _graph(event: dict[str, Any]) -> Graph:
    cause = Cause(*event["cause"]) if event["cause"] else None
    return Graph(cause, tuple(Line(*line) for line in event["lines"]))


def _work(pid: int, event: dict[str, Any], begun: list[int]) -> Work:
    """``begun`` holds, for every backward, how many steps had ended before it."""
    line = Line(*event["line"]) if event["line"] else None
    latest = event["backward"]
    is_in_step = 0 < latest <= len(begun) and begun[latest - 1] == event["step"]
    return Work(
        pid, line, event["boundary"], event["step"], event["backward"], event["launches"], event["boundaries"],
        event["compiles"], event["reads"], event["scalars"], tuple(event["fallbacks"].items()),
        tuple(event["graphs"]), is_in_step, event.get("chain", -1),
    )  # fmt: skip


def _ending(event: dict[str, Any]) -> Ending:
    line = Line(*event["line"]) if event["line"] else None
    return Ending(event["how"], event["status"], event["error"], line, event["xla"])
