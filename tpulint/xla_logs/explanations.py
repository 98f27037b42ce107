"""The rules of tpulint that explain what a log says."""

from __future__ import annotations

from typing import NamedTuple

from tpulint.file_findings import FilesFindings
from tpulint.report.entry import Entry
from tpulint.xla_logs.summary import WARM_UP, Place, Tally, find_source, own_frames

CATEGORIES = {
    "read": ("host_sync", "recompile"),
    "boundary": ("recompile",),
    "loader": ("recompile",),
    "compile": ("recompile",),
    "dynamo": ("recompile",),
    "cleared": ("step",),
    "other": (),
}
"""Kinds of places, and the categories of the rules that speak about them."""
_ABOUT_GRAPHS = frozenset(
    {"partial-last-batch", "padded-to-longest", "missing-step-boundary", "evaluation-loop-without-boundary"}
)
"""Rules of other categories that explain why a graph keeps changing."""


class Explanation(NamedTuple):
    """A finding that explains what happened at a place."""

    code: str
    name: str
    message: str
    path: str
    row: int


class Explanations:
    """Lints the files that a log names, where they are found."""

    def __init__(self, findings: FilesFindings, folder: str) -> None:
        self._findings = findings
        self._folder = folder

    def source(self, tally: Tally) -> str:
        """The line of a place, for display; empty where its file is not here."""
        frame = tally.place.frame
        path = find_source(frame.path, self._folder) if frame is not None else ""
        return self._findings.of(path).source(frame.row) if frame is not None and path else ""

    def of(self, tally: Tally) -> list[Explanation]:
        """Findings in the statement, else in the function, that read a value; those in the file that explain why its
        graph keeps changing, and in files that its loops call."""
        about_file = self._about_file(tally) if len(tally.graphs) > WARM_UP else []
        if tally.place.kind != "read":
            return about_file
        reading = self._about_read(tally.place)
        return reading + [one for one in about_file if one not in reading]

    def _about_read(self, place: Place) -> list[Explanation]:
        for frame in own_frames(place.frames):
            path = find_source(frame.path, self._folder)
            file = self._findings.of(path) if path else None
            found = self._fitting(place.kind, file.at(frame.row) or file.in_function(frame.row)) if file else []
            if found:
                return _explanations(path, found)
        return []

    def _about_file(self, tally: Tally) -> list[Explanation]:
        frame = tally.place.frame
        path = find_source(frame.path, self._folder) if frame is not None else ""
        if not path:
            return []
        found = _explanations(path, self._fitting("boundary", list(self._findings.of(path).entries)))
        for called in self._findings.called_from(path):
            found += _explanations(called, self._fitting("boundary", list(self._findings.of(called).entries)))
        return found

    def _fitting(self, kind: str, entries: list[Entry]) -> list[Entry]:
        categories = self._findings.categories
        return [
            one
            for one in entries
            if categories.get(one.code) in CATEGORIES[kind] or (kind != "read" and one.name in _ABOUT_GRAPHS)
        ]


def _explanations(path: str, entries: list[Entry]) -> list[Explanation]:
    # Of several findings of a rule the first is enough.
    first = {entry.code: entry for entry in reversed(entries)}
    return [
        Explanation(entry.code, entry.name, entry.message, path, entry.place.row) for entry in reversed(first.values())
    ]
