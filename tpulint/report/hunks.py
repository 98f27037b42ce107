"""The lines that some edits change, with the lines around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tpulint.model import Edit
from tpulint.records import NamedTuple
from tpulint.source import SourceFile

_CONTEXT = 1


class Line(NamedTuple):
    """One line of a hunk."""

    mark: str
    """``-`` taken out, ``+`` put in, blank for a line around them."""
    row: int
    """In the old text for ``-``, in the new one otherwise."""
    text: str
    cell: int = 0
    """Number of the cell of a notebook that the row is one of; 0 in other files."""


class Change(NamedTuple):
    """Neighbouring rows that become other rows."""

    row: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def hunks_of(source: SourceFile, edits: Sequence[Edit]) -> tuple[tuple[Line, ...], ...]:
    """The hunks of some disjoint edits, sorted by position; those of a notebook cell by cell."""
    if not source.cell_starts:
        return _hunks(source, edits)
    from tpulint.notebooks.places import edits_by_cell

    return tuple(
        tuple(line._replace(cell=number) for line in hunk)
        for number, cell, inside in edits_by_cell(edits, source)
        for hunk in _hunks(cell, inside)
    )


def _hunks(source: SourceFile, edits: Sequence[Edit]) -> tuple[tuple[Line, ...], ...]:
    hunks: list[tuple[Line, ...]] = []
    lines: list[Line] = []
    shift = 0
    upto = 0
    """First row that no hunk shows yet."""
    for change in _changes(source, edits):
        if lines and change.row - upto > _CONTEXT:
            lines.extend(_context(source, upto, min(upto + _CONTEXT, source.row_count + 1), shift))
            hunks.append(tuple(lines))
            lines = []
        start = upto if lines else max(1, change.row - _CONTEXT)
        lines.extend(_context(source, start, change.row, shift))
        lines.extend(Line("-", change.row + number, text) for number, text in enumerate(change.old))
        lines.extend(Line("+", change.row + shift + number, text) for number, text in enumerate(change.new))
        upto = change.row + len(change.old)
        shift += len(change.new) - len(change.old)
    if lines:
        lines.extend(_context(source, upto, min(upto + _CONTEXT, source.row_count + 1), shift))
        hunks.append(tuple(lines))
    return tuple(hunks)


def _context(source: SourceFile, start: int, end: int, shift: int) -> list[Line]:
    lines = [Line(" ", row + shift, source.line(row)) for row in range(start, end)]
    if lines and end > source.row_count and not lines[-1].text:
        del lines[-1]  # what follows the final newline is no line
    return lines


def _changes(source: SourceFile, edits: Sequence[Edit]) -> list[Change]:
    changes: list[Change] = []
    group: list[Edit] = []
    for edit in [*edits, None]:
        if group and (edit is None or source.row(edit.span.start) > source.row(group[-1].span.end)):
            changes.extend(_changes_of_lines(source, group))
            group = []
        if edit is not None:
            group.append(edit)
    return changes


def _changes_of_lines(source: SourceFile, edits: Sequence[Edit]) -> Iterator[Change]:
    """What edits of neighbouring lines change, without the lines they only touch."""
    first, last = source.row(edits[0].span.start), source.row(edits[-1].span.end)
    start = source.offset(first, 1)
    end = source.offset(last + 1, 1) if last < source.row_count else len(source.text)
    parts = []
    at = start
    for edit in edits:
        parts += [source.text[at : edit.span.start], edit.text]
        at = edit.span.end
    parts.append(source.text[at:end])
    old, new = _split(source.text[start:end]), _split("".join(parts))
    if not set(old) & set(new):
        yield Change(first, tuple(old), tuple(new))
        return
    if len({*old}) == len(old) and len({*new}) == len(new):
        # No line stands twice: those at either end that stay can be told without looking for the longest that do.
        while old and new and old[0] == new[0]:
            del old[0], new[0]
            first += 1
        while old and new and old[-1] == new[-1]:
            del old[-1], new[-1]
        if not set(old) & set(new):
            if old or new:
                yield Change(first, tuple(old), tuple(new))
            return
    from difflib import SequenceMatcher

    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            yield Change(first + old_from, tuple(old[old_from:old_to]), tuple(new[new_from:new_to]))


def _split(text: str) -> list[str]:
    if "\r" in text:
        lines = SourceFile.from_text(text)
        rows = [lines.line(row) for row in range(1, lines.row_count + 1)]
    else:
        rows = text.split("\n")
    return rows[:-1] if rows and not rows[-1] else rows
