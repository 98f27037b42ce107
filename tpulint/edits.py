"""Edits of one fix as a whole: whether, and how, they make one change of a text."""

from __future__ import annotations

import re
from itertools import pairwise

from tpulint.model import Edit, Span, Suite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tpulint.source import SourceFile

_STRING_OR_COMMENT = re.compile(
    r"#[^\r\n]*|\'\'\'.*?\'\'\'|\"\"\".*?\"\"\"|\'(?:\\.|[^\'\\\r\n])*\'|\"(?:\\.|[^\"\\\r\n])*\"", re.DOTALL
)


def one_change(edits: Iterable[Edit], source: SourceFile) -> list[Edit] | None:
    """The edits in order of position, as they can be applied together.

    None where two of them touch the same text, and where half of a pair of brackets would be left.
    """
    ordered = _without_double_blanks(_with_lines_last(sorted(set(edits))), source)
    if _balance("".join(edit.text for edit in ordered)) != _removed_balance(ordered, source):
        return None  # part of a call in parentheses of its own: half of them would be left
    if any(left.span.end > right.span.start or left.span == right.span for left, right in pairwise(ordered)):
        return None
    return ordered


def _with_lines_last(edits: list[Edit]) -> list[Edit]:
    """The edits, where what is put at the end of a row and the rows that are put in behind it are one."""
    result: list[Edit] = []
    for edit in edits:
        other = result[-1] if result and result[-1].span == edit.span else None
        if other is not None and edit.span.start == edit.span.end and None is edit.deletes_from is other.deletes_from:
            lines = [one for one in (other, edit) if one.text.startswith(("\n", "\r"))]
            if len(lines) == 1:
                inline = edit if lines[0] is other else other
                result[-1] = inline._replace(text=inline.text + lines[0].text)
                continue
        result.append(edit)
    return result


def keep_blocks_filled(edits: list[Edit]) -> list[Edit]:
    """Where every statement of a block is deleted and none is put in, ``pass`` stands for the first one."""
    deleted: dict[Suite, list[Edit]] = {}
    for edit in edits:
        if edit.deletes_from is not None:
            deleted.setdefault(edit.deletes_from, []).append(edit)
    for suite, gone in deleted.items():
        first, last = min(gone), max(gone)
        if len(gone) < suite.size or any(
            edit.deletes_from is None and edit.text.strip() and first.span.start <= edit.span.start < last.span.end
            for edit in edits
        ):
            continue
        edits = [edit._replace(text=edit.placeholder) if edit is first else edit for edit in edits]
    return edits


def _without_double_blanks(edits: list[Edit], source: SourceFile) -> list[Edit]:
    """The edits, where lines that go from between blank lines take as many of these with them as stand twice."""
    result, first = list(edits), 0
    while first < len(edits):
        last = first
        while last + 1 < len(edits) and edits[last + 1].span.start == edits[last].span.end:
            last += 1
        start, end = edits[first].span.start, edits[last].span.end
        row = source.row(start)
        goes = all(edit.text == "" for edit in edits[first : last + 1])
        whole = start == source.line_starts[row - 1] and source.text[end - 1 : end] in ("\n", "\r")
        if goes and whole:
            upper, lower = source.cell_rows(row)
            while upper < row and not source.line(row - 1).strip() and source.row(end) <= lower:
                following = source.past_newline(source.line_end(end))
                if following <= end or source.text[end:following].strip():
                    break
                row, end = row - 1, following
            result[last] = edits[last]._replace(span=Span(edits[last].span.start, end))
        first = last + 1
    return result


def _removed_balance(edits: Sequence[Edit], source: SourceFile) -> tuple[int, ...]:
    text = source.text
    return _balance("".join(f"{text[edit.span.start : edit.span.end]}\n" for edit in edits))


def _balance(text: str) -> tuple[int, ...]:
    """Opening minus closing brackets of each kind, strings and comments left out."""
    code = _STRING_OR_COMMENT.sub("", text)
    return tuple(code.count(opening) - code.count(closing) for opening, closing in ("()", "[]", "{}"))
