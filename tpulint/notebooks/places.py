"""Places in the cells of a notebook, as reports and diffs show them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from tpulint.model import Certainty, Edit, Severity, Span
from tpulint.notebooks.source import NotebookSource
from tpulint.report.diff import unified
from tpulint.report.entry import Entry, FileReport, Place
from tpulint.source import SourceFile, UnreadableSource

_LONGEST_EXCERPT = 200


def place_in_cell(span: Span, source: SourceFile) -> Place:
    """The place of a span: rows of its cell, and the row that the file has it in."""
    assert isinstance(source, NotebookSource)
    row, column = source.position(span.start)
    end_row, end_column = source.position(span.end)
    above = source.cell_rows(row)[0] - 1
    return Place(row - above, column, end_row - above, end_column, source.cell_number(row), source.file_row(row))


def edits_by_cell(edits: Sequence[Edit], source: SourceFile) -> Iterator[tuple[int, SourceFile, list[Edit]]]:
    """The cells that some edits change: number, text, and the edits of that text."""
    assert isinstance(source, NotebookSource)
    found: dict[int, list[Edit]] = {}
    for edit in edits:
        cell = bisect_right(source.cell_starts, edit.span.start) - 1
        start = source.cell_starts[cell]
        moved = edit._replace(span=Span(edit.span.start - start, edit.span.end - start))
        found.setdefault(cell, []).append(moved)
    for cell, inside in sorted(found.items()):
        start, end = source.bounds(cell)
        number = source.cell_number(source.row(start))
        yield number, SourceFile(source.text[start:end], source.path, newline=source.newline), inside


def diff_of_cells(path: str, before: SourceFile, after: SourceFile) -> bytes:
    """The unified diff of each cell that changed, under the name ``path:cell N``."""
    assert isinstance(before, NotebookSource) and isinstance(after, NotebookSource)
    parts = []
    for cell, (old, new) in enumerate(zip(before.texts, after.texts, strict=True)):
        if old != new:
            name = f"{path}:cell {before.cell_number(before.row(before.cell_starts[cell]))}"
            parts.append(unified(name, _ended(old), _ended(new), sides=""))
    return b"".join(parts)


def _ended(text: str) -> bytes:
    """The text with a newline behind its last line: a cell has none there, and lacks none."""
    return (text + "\n" if text and not text.endswith("\n") else text).encode(errors="surrogatepass")


def unreadable(data: bytes, path: str, error: UnreadableSource) -> FileReport:
    """The report about a file that is not a notebook: one finding, at the row that is to blame."""
    lines = data.decode(errors="replace").split("\n")
    row = min(max(error.row, 1), len(lines))
    excerpt = (lines[row - 1].rstrip("\r")[:_LONGEST_EXCERPT],)
    entry = Entry(
        "invalid-syntax", "invalid-syntax", error.message, int(Severity.ERROR), int(Certainty.CERTAIN),
        Place(row, 1, row, 1), "", (), row, excerpt, "", 1, None,
    )  # fmt: skip
    return FileReport(path, (entry,))
