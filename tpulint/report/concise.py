"""One line per finding: ``path:row:column: CODE message [*]``."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Applicability, Severity
from tpulint.report.entry import FileReport, FixEntry
from tpulint.report.style import Style, name, printable


def render(reports: list[FileReport], style: Style, required: Applicability) -> Iterator[str]:
    """The report, in pieces."""
    for report in reports:
        for entry in report.entries:
            fix = None if entry.fix is None else report.fixes[entry.fix]
            mark = marker(fix, required)
            colon = style.paint(":", "dim")
            place = style.paint(name(report.path), "bold") + colon + entry.place.start.replace(":", colon) + colon
            code = style.paint(entry.code, Severity(entry.severity).label)
            yield f"{place} {code} {printable(entry.message)}{' ' + style.paint(mark, 'cyan') if mark else ''}\n"


def marker(fix: FixEntry | None, required: Applicability) -> str:
    """``[*]`` for a finding that ``--fix`` would fix, with the flags given."""
    return "[*]" if fix is not None and fix.applicability >= required else ""
