"""What changed in the cells of a notebook, whatever became of its outputs, its metadata and the layout of its JSON."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.notebooks.source import NotebookSource, read_notebook
from tpulint.records import NamedTuple
from tpulint.report.diff import matcher

Position = tuple[int, int]
"""Number of a cell, and a row of it, both from 1."""


class _Line(NamedTuple):
    cell: int
    row: int
    text: str


def changed_stretches(before: bytes, after: bytes) -> list[tuple[Position, Position]]:
    """Stretches of changed rows of one version of a notebook's file since another, first and last row included.

    Rows that are gone count as those around them in their cell. Raises ``NotANotebook``.
    """
    old, new = (list(_lines(read_notebook(data, ""))) for data in (before, after))
    found = []
    for tag, old_start, old_end, start, end in matcher(
        [line.text for line in old], [line.text for line in new]
    ).get_opcodes():
        if tag == "delete":
            start -= _same_cell(old, old_start - 1, old_start)
            end += _same_cell(old, old_end - 1, old_end)
        if tag != "equal":
            # By row: cells without changes in between have numbers too.
            found += [((line.cell, line.row), (line.cell, line.row)) for line in new[start:end]]
    return found


def _lines(source: NotebookSource) -> Iterator[_Line]:
    for start in source.cell_starts:
        first, last = source.cell_rows(source.row(start))
        number = source.cell_number(first)
        for row in range(first, last + 1):
            yield _Line(number, row - first + 1, source.line(row))


def _same_cell(lines: list[_Line], one: int, other: int) -> bool:
    return one >= 0 and other < len(lines) and lines[one].cell == lines[other].cell
