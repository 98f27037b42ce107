"""A summary of logs for people to read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tpulint.report.style import Style, printable
from tpulint.xla_logs.explanations import CATEGORIES, Explanation, Explanations
from tpulint.xla_logs.summary import Summary, Tally

_TEXTS = {
    "read": "a value was read before the step boundary",
    "boundary": "step boundary",
    "loader": "step boundary of a device loader",
    "compile": "torch_xla.compile",
    "cleared": "pending operations, run when torch_xla.compile began",
    "dynamo": "torch.compile",
}
_LOOKS = {"read": "yellow"}
_WIDTH = len("boundary") + 1
_HASHES_SHOWN = 4


def render(summary: Summary, explanations: Explanations, notes: list[str], style: Style) -> Iterator[str]:
    """The report, line by line."""
    yield (
        f"{_count(len(summary.graphs), 'graph')}, {_count(summary.compiles, 'compilation')}, "
        f"{_count(summary.runs, 'run') if summary.runs else 'runs are not in the log'}\n"
    )
    for tally in summary.tallies:
        yield from _place(tally, explanations, style)
    if summary.forbidden:
        yield f"\na graph was cut off where torch_xla.compile(full_graph=True) allows none, {summary.forbidden} times\n"
    if notes:
        yield "\n"
    yield from (f"note: {printable(note)}\n" for note in notes)


def _place(tally: Tally, explanations: Explanations, style: Style) -> Iterator[str]:
    place = tally.place
    where = "place not known" if place.frame is None else f"{_path(place.frame.path)}:{place.frame.row}"
    yield f"\n{style.paint(printable(where), 'bold')}  {printable(explanations.source(tally))}\n"
    look = "red" if tally.is_costly and place.kind != "read" else _LOOKS.get(place.kind, "dim")
    text = _TEXTS.get(place.kind) or place.cause
    if tally.is_costly and place.kind != "read":
        text += ", the graph keeps changing"
    numbers = f"{_count(len(tally.graphs), 'graph')}, compiled {_times(tally.compiles)}"
    if tally.runs:
        numbers += f", run {_times(tally.runs)}"
    yield f"    {style.paint(place.kind.ljust(_WIDTH), look)} {printable(text)}: {numbers}\n"
    hashes = list(tally.graphs)
    more = f" and {len(hashes) - _HASHES_SHOWN} more" if len(hashes) > _HASHES_SHOWN else ""
    yield style.paint(f"    {'':{_WIDTH}} {' '.join(hashes[:_HASHES_SHOWN])}{more}\n", "dim")
    found = explanations.of(tally)
    for one in found:
        yield f"    {'':{_WIDTH}} {_explained(one, tally)}\n"
    if not found and tally.is_costly:
        categories = " and ".join(name.replace("_", " ") for name in CATEGORIES[place.kind])
        yield f"    {'':{_WIDTH}} no finding of the linter explains it; see its rules about {categories}\n"


def _explained(one: Explanation, tally: Tally) -> str:
    frame = tally.place.frame
    is_here = frame is not None and one.row == frame.row
    where = "" if is_here else f" ({_path(one.path)}:{one.row})"
    return f"{one.code} {one.name}{where}: {printable(one.message)}"


def _path(path: str) -> str:
    below = os.getcwd() + os.path.sep
    return path.removeprefix(below)


def _times(number: int) -> str:
    return {0: "never", 1: "once"}.get(number, f"{number} times")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
