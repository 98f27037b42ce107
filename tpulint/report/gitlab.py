"""GitLab's code quality report."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tpulint.model import Severity
from tpulint.report.entry import Entry, FileReport, Place
from tpulint.report.fingerprints import fingerprints
from tpulint.report.github import below

_SEVERITIES = {Severity.INFO: "info", Severity.WARNING: "minor", Severity.ERROR: "major"}


def render(reports: list[FileReport]) -> Iterator[str]:
    """The report, in one piece."""
    from tpulint.json_output import serialize

    issues = [
        {
            "check_name": entry.code,
            "description": _description(entry),
            "severity": _SEVERITIES[Severity(entry.severity)],
            "fingerprint": mark,
            "location": {
                "path": below(os.environ.get("CI_PROJECT_DIR"), report.path),
                "positions": {
                    "begin": _position(entry.place.file_row, entry.place.column, entry.place),
                    "end": _position(entry.place.file_end_row, entry.place.end_column, entry.place),
                },
            },
        }
        for report in reports
        for entry, mark in zip(report.entries, fingerprints(report), strict=True)
    ]
    yield serialize(issues) + "\n"


def _description(entry: Entry) -> str:
    where = f" ({entry.place.start})" if entry.place.cell else ""
    return f"{entry.code}: {entry.message}{where}"


def _position(row: int, column: int, place: Place) -> dict[str, int]:
    """Where the file has it. Columns of a cell are not those of the JSON around it: there it is the first."""
    return {"line": row, "column": 1 if place.cell else column}
