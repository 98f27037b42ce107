"""GitLab's code quality report."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Severity
from tpulint.patterns import with_slashes
from tpulint.report.entry import FileReport
from tpulint.report.fingerprints import fingerprints

_SEVERITIES = {Severity.INFO: "info", Severity.WARNING: "minor", Severity.ERROR: "major"}


def render(reports: list[FileReport]) -> Iterator[str]:
    """The report, in one piece."""
    import json

    issues = [
        {
            "check_name": entry.code,
            "description": f"{entry.code}: {entry.message}",
            "severity": _SEVERITIES[Severity(entry.severity)],
            "fingerprint": mark,
            "location": {
                "path": with_slashes(report.path),
                "positions": {
                    "begin": {"line": entry.place.row, "column": entry.place.column},
                    "end": {"line": entry.place.end_row, "column": entry.place.end_column},
                },
            },
        }
        for report in reports
        for entry, mark in zip(report.entries, fingerprints(report), strict=True)
    ]
    yield json.dumps(issues, indent=2) + "\n"
