"""Writes the comments that silence findings: ``# noqa: TPU101`` on their lines."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Sequence

from tpulint.disk import read, replace
from tpulint.languages import PYTHON, language_of
from tpulint.linter import INVALID_SYNTAX
from tpulint.model import Edit, Finding, Severity, Span
from tpulint.records import NamedTuple
from tpulint.source import SourceFile, UnreadableSource
from tpulint.suppressions import UNUSED, Suppression, Suppressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.report.entry import Entry, FileReport
    from tpulint.text_files import TextIndex

_NEWLINE = re.compile(r"\r\n|\r|\n")


def silence(report: FileReport, reason: str) -> FileReport:
    """Write comments into a file, on disk, for all findings of its report; the report with those that are left.

    A syntax error cannot be silenced, and an unused suppression is to be removed.
    """
    wanted = [entry for entry in report.entries if entry.code not in (INVALID_SYNTAX, UNUSED)]
    if not wanted or report.error:
        return report
    try:
        data = read(report.path).data
        source = SourceFile.from_bytes(data, report.path)
        done, left = silenced(source, wanted, reason)
        if done.text != source.text:
            replace(report.path, data, done.to_bytes())
    except (OSError, UnreadableSource, UnicodeEncodeError, SyntaxError) as error:
        return report._replace(error=f"cannot be silenced: {getattr(error, 'strerror', None) or error}")
    return report._replace(entries=tuple(entry for entry in report.entries if entry not in wanted or entry in left))


class Silenced(NamedTuple):
    """A file with comments."""

    source: SourceFile
    left: list[Entry]
    """Findings that no comment can silence where it would do no harm."""


def silenced(source: SourceFile, entries: Sequence[Entry], reason: str) -> Silenced:
    """The file with a comment for each finding. Comments that are there take further codes. Raises ``SyntaxError``."""
    statement_rows = _statement_rows(source)
    there = {
        one.row: one for one in Suppressions.scan(source) if not one.of_file and not one.of_cell and not one.blanket
    }
    can_end = _rows_that_can_end_in_a_comment(source)
    places: dict[tuple[int, bool], list[Entry]] = {}
    for entry in entries:
        own_row = source.first_row_of(entry.place.cell) + entry.place.row - 1
        first, last = statement_rows(Span(*[source.offset(own_row, entry.place.column)] * 2))
        rows = [row for row in (own_row, *range(last, first - 1, -1)) if row in can_end]
        own = next((row for row in range(first, last + 1) if row in there), None)
        place = (own, True) if own is not None else (rows[0], True) if rows else (first, False)
        places.setdefault(place, []).append(entry)
    edits, left = [], []
    for (row, at_end), found in places.items():
        edit = _edit(source, row, at_end, sorted({entry.code for entry in found}), there.get(row), reason)
        if _does_no_harm(source, edit, found):
            edits.append(edit)
        else:
            left.extend(found)
    return Silenced(source.with_edits(edits), left)


def _does_no_harm(source: SourceFile, edit: Edit, entries: Sequence[Entry]) -> bool:
    """Whether a comment is one, silences what it is for, and leaves the rest of the file what it was.

    In Python that is known. A line of a shell may be continued, or belong to a text in quotes or to a document.
    """
    if language_of(source.path, source.text) == PYTHON and not source.cell_starts:
        return True
    after = source.with_edits([edit])
    before_index, index = _text_index(source), _text_index(after)
    at = edit.span.start + edit.text.index("#") if "#" in edit.text else edit.span.start
    if source.cell_starts and not any(one.start <= at <= one.end for one in _stretches(after)):
        return True  # in a cell of Python
    is_comment = any(comment.start <= at < comment.end for comment in index.comments)
    if not is_comment or _shape(before_index) != _shape(index):
        return False
    findings = []
    for entry in entries:
        offset = source.offset(source.first_row_of(entry.place.cell) + entry.place.row - 1, entry.place.column)
        longer = len(edit.text) - (edit.span.end - edit.span.start)
        moved = offset + (longer if edit.span.start <= offset else 0)
        findings.append(Finding(entry.code, entry.name, Span(moved, moved), "", Severity.INFO))
    return not Suppressions.scan(after).filter(findings, index.statement_rows)


def _text_index(source: SourceFile) -> TextIndex:
    if source.cell_starts:
        from tpulint.notebooks.shell_lines import shell_lines

        return shell_lines(source)
    from tpulint.text_files import TextIndex

    return TextIndex(source)


def _stretches(source: SourceFile) -> Sequence[Span]:
    """Where a notebook speaks to a shell."""
    from tpulint.notebooks.source import NotebookSource

    assert isinstance(source, NotebookSource)
    return source.shell_stretches


def _shape(index: TextIndex) -> object:
    """What a file of commands, packages or settings says, wherever it stands."""
    installs = index.installs
    return (
        [([word.text for word in (*one.assignments, *one.words)]) for one in index.commands],
        [(one.name, one.value) for one in index.settings],
        [(one.name, one.versions) for one in installs.requirements],
        [one.address for one in installs.indexes],
        [(one.path, one.key, one.value) for one in index.yaml_lines],
    )


def _edit(
    source: SourceFile, row: int, at_end: bool, codes: Sequence[str], there: Suppression | None, reason: str
) -> Edit:
    listed = ", ".join(codes)
    if there is not None:
        end = there.codes_span.end
        rest = source.text[end : source.offset(row, len(source.line(row)) + 1)].rstrip()
        if not reason or rest not in ("", "]"):
            return Edit(Span(end, end), f", {listed}")  # its own reason, or another comment, stands behind it
        return Edit(Span(end, end + len(rest)), f", {listed}{rest} {reason}")
    comment = f"# noqa: {listed}{f' {reason}' if reason else ''}"
    start = source.offset(row, 1)
    line = source.line(row)
    if at_end:
        end = start + len(line.rstrip())
        return Edit(Span(end, end), f"  {comment}")
    indent = line[: len(line) - len(line.lstrip())]
    return Edit(Span(start, start), f"{indent}{comment}{source.newline}")


def _statement_rows(source: SourceFile) -> Callable[[Span], tuple[int, int]]:
    if language_of(source.path, source.text) != PYTHON:
        from tpulint.text_files import TextIndex

        return TextIndex(source).statement_rows
    from tpulint.semantic import SemanticIndex

    index = SemanticIndex(source, source.parse())
    if not source.cell_starts:
        return index.statement_rows
    from tpulint.notebooks.shell_lines import shell_lines

    return shell_lines(source).rows_around(index)


def _rows_that_can_end_in_a_comment(source: SourceFile) -> frozenset[int]:
    """Rows that end between two tokens of Python. In other files a comment stands in a line of its own."""
    if language_of(source.path, source.text) != PYTHON:
        return frozenset()
    lines = io.StringIO(_NEWLINE.sub("\n", source.code), newline="\n")
    ends = (tokenize.NEWLINE, tokenize.NL)
    rows = {token.start[0] for token in tokenize.generate_tokens(lines.readline) if token.type in ends}
    return frozenset(rows.difference(source.rows_of_others))
