"""Reports for programs: ``json``, ``json-lines`` with ruff's names of fields."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tpulint.model import Applicability, Certainty, Severity
from tpulint.report.entry import Entry, FileReport, Place
from tpulint.report.fingerprints import fingerprints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.targets import Target


def render_list(reports: list[FileReport], catalogue: Catalogue, target: Target) -> Iterator[str]:
    """One JSON list of findings."""
    from tpulint.json_output import serialize

    items = [serialize(item) for item in findings(reports, catalogue, target)]
    yield "[" + ",".join("\n" + "\n".join("  " + line for line in item.split("\n")) for item in items)
    yield "\n]\n" if items else "]\n"


def render_lines(reports: list[FileReport], catalogue: Catalogue, target: Target) -> Iterator[str]:
    """One JSON object per line and finding."""
    from tpulint.json_output import serialize

    for item in findings(reports, catalogue, target):
        yield serialize(item, indent=None) + "\n"


def findings(reports: list[FileReport], catalogue: Catalogue, target: Target) -> Iterator[dict[str, object]]:
    """Every finding as plain data."""
    for report in reports:
        for entry, mark in zip(report.entries, fingerprints(report), strict=True):
            rule = catalogue.get(entry.code)
            yield {
                "cell": entry.place.cell or None,
                "certainty": Certainty(entry.certainty).name.lower(),
                "code": entry.code,
                "end_location": _location(entry.place.end_row, entry.place.end_column),
                "filename": "-" if report.path == "-" else os.path.abspath(report.path),
                "fingerprint": mark,
                "fix": _fix(report, entry),
                "group": rule.category if rule is not None else None,
                "help": entry.help or None,
                "location": _location(entry.place.row, entry.place.column),
                "message": entry.message,
                "name": entry.name,
                # A syntax error cannot be silenced by a comment.
                "noqa_row": entry.place.row if rule is not None else None,
                "pace": entry.pace or None,
                "related": [{**_cell(place), "message": text, **_range(place)} for place, text in entry.related],
                "severity": Severity(entry.severity).label,
                "target": target.name,
                "url": None,
            }


def _fix(report: FileReport, entry: Entry) -> dict[str, object] | None:
    if entry.fix is None:
        return None
    fix = report.fixes[entry.fix]
    return {
        "applicability": Applicability(fix.applicability).label,
        "edits": [{**_cell(place), "content": text, **_range(place)} for text, place in fix.edits],
        "message": fix.title,
        "reason": fix.reason,
    }


def _cell(place: Place) -> dict[str, object]:
    """The cell of a place in a notebook, which need not be that of the finding."""
    return {"cell": place.cell} if place.cell else {}


def _range(place: Place) -> dict[str, object]:
    return {
        "end_location": _location(place.end_row, place.end_column),
        "location": _location(place.row, place.column),
    }


def _location(row: int, column: int) -> dict[str, int]:
    return {"column": column, "row": row}
