"""Findings that were there before: those of a baseline, and those on lines that did not change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from tpulint.applicability import HALF_PORTED, turns_to_xla
from tpulint.linter import INVALID_SYNTAX
from tpulint.model import Applicability, Severity
from tpulint.records import NamedTuple
from tpulint.selectors import matches_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.changed_rows import ChangedRows
    from tpulint.config import Settings
    from tpulint.model import Finding
    from tpulint.report.entry import Entry, FileReport
    from tpulint.source import SourceFile


class Mark(NamedTuple):
    """What a finding is known by within its file, wherever its line moves."""

    code: str
    line: str
    """The text of its first line, with single blanks."""


Marks = Mapping[str, Counter[Mark]]
"""By absolute path of the file: marks of its old findings, and how many have each."""


def marks_of(report: FileReport) -> list[Mark]:
    """The mark of each entry."""
    return [Mark(entry.code, line_of(entry)) for entry in report.entries]


def line_of(entry: Entry) -> str:
    """The text of the first line of a finding, with single blanks."""
    at = entry.place.row - entry.first_row
    return " ".join(entry.excerpt[at].split()) if 0 <= at < len(entry.excerpt) else ""


def marks_outside(reports: Sequence[FileReport], changed: ChangedRows) -> dict[str, Counter[Mark]]:
    """Marks of the findings that touch no changed line, neither by their place nor by one that explains them."""
    found = {}
    for report in reports:
        is_new = _touches(changed, report.path)
        old = Counter(mark for mark, entry in zip(marks_of(report), report.entries, strict=True) if not is_new(entry))
        if old:
            found[os.path.abspath(report.path)] = old
    return found


def old_since(changed: ChangedRows) -> Callable[[str, Entry], bool]:
    """Tells of a finding, given with the path of its file, whether it touches no changed line."""
    asked: dict[str, Callable[[Entry], bool]] = {}

    def is_old(path: str, entry: Entry) -> bool:
        if path not in asked:
            asked[path] = _touches(changed, path)
        return not asked[path](entry)

    return is_old


def without_unchanged(report: FileReport, changed: ChangedRows) -> FileReport:
    """The report with the findings that touch changed lines."""
    is_new = _touches(changed, report.path)
    kept = [entry for entry in report.entries if is_new(entry)]
    return _with(report, kept, {entry.fix for entry in report.entries if not is_new(entry)})


def without_marked(report: FileReport, marks: Marks) -> FileReport:
    """The report without the findings that have these marks; of more that look alike the last ones are new."""
    left = Counter(marks.get(os.path.abspath(report.path), ()))
    if not left:
        return report
    kept, gone = [], set()
    for mark, entry in zip(marks_of(report), report.entries, strict=True):
        if left[mark] and entry.code != INVALID_SYNTAX:
            left[mark] -= 1
            gone.add(entry.fix)
        else:
            kept.append(entry)
    return _with(report, kept, gone)


def kept_whole(before: FileReport, after: FileReport, catalogue: Catalogue, settings: Settings) -> FileReport:
    """The report without old findings, its fixes as ``applicability.keep_whole`` has them where the old ones stay."""
    told = {(entry.place, entry.code) for entry in after.entries}
    rules = {rule.code: rule for rule in catalogue.rules}
    is_half = not settings.portable and any(
        entry.severity == Severity.ERROR and rules[entry.code].moves
        for entry in before.entries
        if (entry.place, entry.code) not in told and entry.code in rules
    )
    if not is_half:
        return after
    fixes = list(after.fixes)
    for entry in after.entries:
        if entry.fix is None or entry.code not in rules:
            continue
        fix = fixes[entry.fix]
        is_safe = fix.applicability == Applicability.SAFE
        if not is_safe or matches_any(settings.extend_safe_fixes, entry.code, entry.name):
            continue
        if turns_to_xla((text for text, _ in fix.edits), rules[entry.code].category):
            fixes[entry.fix] = fix._replace(applicability=int(Applicability.UNSAFE), reason=HALF_PORTED)
    return after._replace(fixes=tuple(fixes))


def without_fixes(source: SourceFile, findings: list[Finding], old: Counter[Mark]) -> list[Finding]:
    """The findings, the old ones without a fix: what they share with new ones goes as well."""
    left = Counter(old)
    gone: set[int] = set()
    for finding in findings:
        mark = Mark(finding.code, " ".join(source.line(source.row(finding.span.start)).split()))
        if left[mark]:
            left[mark] -= 1
            gone.add(id(finding.fix))
    return [finding._replace(fix=None) if id(finding.fix) in gone else finding for finding in findings]


def _with(report: FileReport, kept: Iterable[Entry], gone: Collection[int | None]) -> FileReport:
    """The report with some of its entries; a fix that the others share is none of theirs."""
    return report._replace(entries=tuple(entry._replace(fix=None) if entry.fix in gone else entry for entry in kept))


def _touches(changed: ChangedRows, path: str) -> Callable[[Entry], bool]:
    rows = changed.of(path)

    def is_new(entry: Entry) -> bool:
        if rows is None or entry.code == INVALID_SYNTAX:
            return True
        places = (entry.place, *(place for place, _ in entry.related))
        return any(rows.touch(place) for place in places)

    return is_new
