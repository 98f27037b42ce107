"""The porting report as plain data, for JSON."""

from __future__ import annotations

from tpulint import __version__
from tpulint.patterns import with_slashes
from tpulint.porting.survey import BY_HAND, REPLACEMENT, REVIEW, FilePort, PortingReport, Way, way_of


def as_data(report: PortingReport) -> dict[str, object]:
    """Names and numbers; shares are of 1, efforts in minutes."""
    return {
        "version": __version__,
        "files": len(report.files),
        "lines": sum(file.lines for file in report.files),
        "other_files": report.others,
        "shares": {
            way.value: {
                "files": round(report.share(way), 4),
                "lines": round(report.share(way, lines=True), 4),
                "findings": report.findings(way),
            }
            for way in Way
        },
        "effort_minutes": report.minutes,
        "effort_assumes": {"reviewed_fix": REVIEW, "by_hand": BY_HAND, "replaced_library": REPLACEMENT},
        "blocking": [
            {"filename": with_slashes(one.path), **_row(one.cell, one.row), "message": one.message}
            for one in report.blockers
        ],
        "rules": dict(report.rules),
        "per_file": [_file(file) for file in report.files],
        "failed": [{"filename": with_slashes(path), "message": why} for path, why in report.failed],
    }


def _row(cell: int, row: int) -> dict[str, int]:
    """A row, and in a notebook the cell that it is one of."""
    return {"cell": cell, "row": row} if cell else {"row": row}


def _file(file: FilePort) -> dict[str, object]:
    return {
        "filename": with_slashes(file.path),
        "lines": file.lines,
        "ports": file.way.value,
        "findings": {way.value: file.ways.get(way, 0) for way in Way if way is not Way.AS_IS},
        "effort_minutes": file.minutes,
        "step_loops": [
            {**_row(loop.cell, loop.row), "end_row": loop.end_row, "costs": dict(loop.costs)} for loop in file.loops
        ],
        "details": [
            {
                "code": entry.code,
                **_row(entry.place.cell, entry.place.row),
                "message": entry.message,
                "pace": entry.pace or None,
                "ports": way_of(file.report, entry).value,
            }
            for entry in file.report.entries
        ],
    }
