"""What a report says about one file: rows and columns in place of offsets, lines in place of the whole text.

Plain values that JSON can hold: made where the file was linted, sent between processes, kept in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from tpulint.model import Applicability, FileResult, Finding, Fix, Span
from tpulint.records import NamedTuple
from tpulint.report.hunks import Line, hunks_of
from tpulint.source import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONTEXT = 2
_LONGEST_EXCERPT = 6


class Place(NamedTuple):
    """A stretch of a file, or of one cell of a notebook; 1-based, the end exclusive, columns in code points."""

    row: int
    column: int
    end_row: int
    end_column: int
    cell: int = 0
    """Number of the cell among all cells of a notebook; 0 in other files."""
    row_in_file: int = 0
    """The row of a notebook's JSON that holds the first row; 0 in other files."""

    @property
    def file_row(self) -> int:
        """The row that the file has it in, for those who look at files."""
        return self.row_in_file or self.row

    @property
    def file_end_row(self) -> int:
        """The same of the last row."""
        return self.file_row + self.end_row - self.row

    @property
    def line(self) -> str:
        """The row, and before it the cell, as people read it."""
        return in_cell(self.cell, self.row)

    @property
    def start(self) -> str:
        """The same with the column."""
        return f"{self.line}:{self.column}"


def in_cell(cell: int, row: int) -> str:
    """A row of a cell, ``cell 3:7``; that of a file where ``cell`` is 0."""
    return f"cell {cell}:{row}" if cell else str(row)


class FixEntry(NamedTuple):
    """A fix as reports show it."""

    title: str
    applicability: int
    reason: str
    edits: tuple[tuple[str, Place], ...]
    """Texts to put in and the places they replace, imports included: applied together they are the whole fix."""
    hunks: tuple[tuple[Line, ...], ...]
    """The changed lines with their surroundings."""


class Entry(NamedTuple):
    """A finding as reports show it."""

    code: str
    name: str
    message: str
    severity: int
    certainty: int
    place: Place
    help: str
    related: tuple[tuple[Place, str], ...]
    first_row: int
    """Row of the first line of ``excerpt``."""
    excerpt: tuple[str, ...]
    pace: str
    """How often the line runs, a value of ``Pace``; empty where that is not known."""
    occurrence: int
    """Which of the findings of this rule on lines of this text it is, from 1."""
    fix: int | None
    """Index into ``FileReport.fixes``: findings may share a fix."""


class FileReport(NamedTuple):
    """Everything a report needs to know about one file."""

    path: str
    entries: tuple[Entry, ...] = ()
    fixes: tuple[FixEntry, ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()
    """Codes and names of the findings whose fixes were applied."""
    error: str = ""
    """Why the file could not be linted, fixed or written."""
    error_row: int = 0
    """Where reading broke off; 0 when no place can be named."""
    diff: bytes = b""
    """What would change, as a unified diff in the file's encoding."""
    output: bytes | None = None
    """The fixed file, for text that came from standard input."""


def describe(result: FileResult, source: SourceFile) -> FileReport:
    """The report about one result; ``source`` is the file the result was made from."""
    if result.text is not source.text:
        source = source.with_text(result.text, result.cell_starts)
    fixes: dict[int, int] = {}
    described: list[FixEntry] = []
    entries = []
    seen: dict[tuple[str, str], int] = {}
    for finding in result.findings:
        number = None
        if finding.fix is not None:
            # By identity: findings that share a fix hold the same object.
            number = fixes.setdefault(id(finding.fix), len(described))
            if number == len(described):
                described.append(_describe_fix(finding.fix, source))
        entries.append(_describe_finding(finding, source, number, seen))
    fixed = tuple((finding.code, finding.name) for finding in result.fixed)
    return FileReport(result.path, tuple(entries), tuple(described), fixed, result.error)


def thaw(path: str, entries: Sequence[Any], fixes: Sequence[Any]) -> FileReport:
    """The report whose entries and fixes went through JSON. Raises ``TypeError`` or ``ValueError`` for others."""
    return FileReport(
        path,
        tuple(
            Entry(code, name, message, severity, certainty, Place(*place), help_text,
                  tuple((Place(*where), text) for where, text in related), first_row, tuple(excerpt), pace,
                  occurrence, fix)
            for code, name, message, severity, certainty, place, help_text, related, first_row, excerpt, pace,
                occurrence, fix in entries
        ),
        tuple(
            FixEntry(title, applicability, reason, tuple((text, Place(*place)) for text, place in edits),
                     tuple(tuple(Line(*line) for line in hunk) for hunk in hunks))
            for title, applicability, reason, edits, hunks in fixes
        ),
    )  # fmt: skip


def is_fixable(report: FileReport, required: Applicability) -> bool:
    """Whether any fix of the report may be applied."""
    return any(fix.applicability >= required for fix in report.fixes)


def _describe_finding(finding: Finding, source: SourceFile, fix: int | None, seen: dict[tuple[str, str], int]) -> Entry:
    place = _place(finding.span, source)
    start, end = source.row(finding.span.start), source.row(finding.span.end)
    upper, lower = source.cell_rows(start)
    last = min(end, start + _LONGEST_EXCERPT - 1)
    first_row = max(upper, start - _CONTEXT)
    last_row = min(lower, last + _CONTEXT)
    lines = [source.line(row) for row in range(first_row, last_row + 1)]
    while lines and first_row < start and not lines[0].strip():
        del lines[0]
        first_row += 1
    while lines and first_row + len(lines) - 1 > last and not lines[-1].strip():
        del lines[-1]
    related = tuple((_place(span, source), text) for span, text in finding.related)
    line = (finding.code, " ".join(source.line(start).split()))
    seen[line] = seen.get(line, 0) + 1
    return Entry(
        finding.code, finding.name, finding.message, int(finding.severity), int(finding.certainty), place, finding.help,
        related, first_row - upper + 1, tuple(lines), finding.pace, seen[line], fix,
    )  # fmt: skip


def _describe_fix(fix: Fix, source: SourceFile) -> FixEntry:
    """A fix with what applying it alone would add: the import, ``pass`` in an emptied block."""
    from tpulint.edits import keep_blocks_filled

    edits = keep_blocks_filled(list(fix.edits))
    if fix.import_edit is not None:
        edits.append(fix.import_edit)
    # Where an import and another edit insert at one place, the import comes first.
    edits.sort(key=lambda edit: (edit.span, edit is not fix.import_edit))
    shown = tuple((edit.text, _place(edit.span, source)) for edit in edits)
    return FixEntry(fix.title, int(fix.applicability), fix.reason, shown, hunks_of(source, edits))


def _place(span: Span, source: SourceFile) -> Place:
    if source.cell_starts:
        from tpulint.notebooks.places import place_in_cell

        return place_in_cell(span, source)
    return Place(*source.position(span.start), *source.position(span.end))
