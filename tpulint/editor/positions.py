"""Rows and columns of editors: both from 0, columns in units that editor and server agree on."""

from __future__ import annotations

from lsprotocol import types
from pygls.workspace import PositionCodec

from tpulint.report.entry import Place
from tpulint.source import SourceFile


def range_of(codec: PositionCodec, source: SourceFile, place: Place) -> types.Range:
    """A place as the editor counts it, in its cell of a notebook."""
    above = source.first_row_of(place.cell) - 1
    return types.Range(
        start=_position(codec, source, above, place.row, place.column),
        end=_position(codec, source, above, place.end_row, place.end_column),
    )


def place_at(codec: PositionCodec, source: SourceFile, position: types.Position, cell: int = 0) -> tuple[int, int]:
    """Row and column, from 1 and in code points, of a position of the editor in a file or a cell."""
    first = source.first_row_of(cell)
    row = min(first + position.line, source.cell_rows(first)[1])
    line, units = source.line(row), 0
    for column, character in enumerate(line, 1):
        if units >= position.character:
            return row - first + 1, column
        units += codec.client_num_units(character)
    return row - first + 1, len(line) + 1


def changed_part(codec: PositionCodec, before: str, after: str) -> types.TextEdit:
    """The edit of one text that makes another of it, and leaves alone what both begin and end with."""
    start, kept = changed_span(before, after)
    source = SourceFile.from_text(before)
    place = Place(*source.position(start), *source.position(len(before) - kept))
    return types.TextEdit(range=range_of(codec, source, place), new_text=after[start : len(after) - kept])


def changed_span(before: str, after: str) -> tuple[int, int]:
    """How many characters two texts share at their start, and at their end."""
    start, limit = 0, min(len(before), len(after))
    while start < limit and before[start] == after[start]:
        start += 1
    kept = 0
    while kept < limit - start and before[-1 - kept] == after[-1 - kept]:
        kept += 1
    return start, kept


def _position(codec: PositionCodec, source: SourceFile, above: int, row: int, column: int) -> types.Position:
    return types.Position(line=row - 1, character=codec.client_num_units(source.line(above + row)[: column - 1]))
