"""Restructuring: statements that change their block, as edits of the blanks in front of their rows.

A row moves with the block it stands in, if it begins with the blanks of that block. Rows that begin within a string
stay where they are.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from tpulint.model import Span
from tpulint.records import NamedTuple
from tpulint.semantic import SemanticIndex

Change = tuple[Span, str]

_COLON = re.compile(r"(?:[\s()\\]|#[^\r\n]*)*:")
_BLANKS = re.compile(r"(?:[ \t]|\\(?:\r\n|\r|\n))*")
_ELSE = re.compile(r"(?:[\s\\;]|#[^\r\n]*)*\b(else)\b")
_INDENT = re.compile(r"[ \t]*")


def unwrap(
    index: SemanticIndex,
    head: ast.If,
    last: ast.stmt,
    values: Mapping[ast.If, bool],
    ends: Collection[ast.If],
) -> list[Change] | None:
    """The changes that leave one branch of decided ``if`` statements; None where the layout is too odd.

    All of them stand in ``head``. What follows one of ``ends`` in its block goes, down to ``last`` behind the head.
    """
    tree = index.tree
    rows = Rows(index, index.source.row(tree.start(head)), last_row(index, head, last))
    for chain in dict.fromkeys(tree.head_of(node) for node in sorted(values, key=tree.start)):
        if rows.goes(tree.start(chain)):
            continue
        parts = _parts(index, rows, chain)
        if parts is None:
            return None
        _unwrap(rows, parts, values, index.source.row(tree.end(tree.suite_of(chain)[-1])) if chain in ends else 0)
    return rows.changes()


def put_under(index: SemanticIndex, statements: Sequence[ast.stmt], header: str, unit: str) -> list[Change] | None:
    """The changes that put neighbouring statements under a header, indented by ``unit``; None where rows are odd."""
    source, tree = index.source, index.tree
    first, last = source.row(tree.start(statements[0])), source.row(tree.end(statements[-1]))
    rows = Rows(index, first, last)
    indent = rows.indent(first)
    if (
        tree.is_elif(statements[0])
        or not rows.are_plain
        or source.offset(first, len(indent) + 1) != tree.start(statements[0])
    ):
        return None
    rows.indent_as(range(first + 1, last + 1), indent, indent + unit)
    start = tree.start(statements[0])
    return [(Span(start, start), f"{header}\n{indent}{unit}"), *rows.changes()]


class Rows:
    """Some rows of a file, and what is to be done with them."""

    def __init__(self, index: SemanticIndex, first: int, last: int) -> None:
        self._source = index.source
        self.last = last
        self._gone: list[Span] = []
        self._replaced: list[Change] = []
        self._indents: dict[int, tuple[str, str]] = {}
        """Row to the blanks that it begins with and what it is to begin with."""
        lines = [self._source.line(row) for row in range(first, last + 1)]
        within = _rows_within_strings(index, first, lines)
        self._within_strings = within or set()
        magics = any(first <= row <= last for row in self._source.rows_of_others)
        # Python skips form feeds in front of a statement.
        feeds = any("\f" in line[: len(line) - len(line.lstrip())] for line in lines)
        self.are_plain = within is not None and not magics and not feeds
        """Whether it is known where they begin."""

    def indent(self, row: int) -> str:
        """The blanks that a row begins with."""
        match = _INDENT.match(self._source.text, self.start(row))
        return match.group() if match else ""

    def indent_to_be(self, row: int) -> str:
        """The blanks that a row is to begin with."""
        indent = self.indent(row)
        old, new = self._indents.get(row, ("", ""))
        return new + indent.removeprefix(old)

    def indent_as(self, rows: Iterable[int], old: str, new: str) -> None:
        """Let those rows that begin with some blanks begin with others, whatever was said of them before."""
        for row in rows:
            self._indents.pop(row, None)
            line = self._source.line(row)
            if line and line.startswith(old) and row not in self._within_strings:
                self._indents[row] = old, new

    def cut_rows(self, first: int, last: int) -> None:
        """Take out whole rows."""
        if first <= last:
            self.cut(self.start(first), self.start(last + 1))

    def cut(self, start: int, end: int) -> None:
        """Take out text."""
        self._gone.append(Span(start, end))

    def replace(self, start: int, end: int, text: str) -> None:
        """Put text in place of other text of one row."""
        self._replaced.append((Span(start, end), text))

    def goes(self, offset: int) -> bool:
        """Whether what stands there is taken out."""
        return any(span.start <= offset < span.end for span in self._gone)

    def start(self, row: int) -> int:
        """Offset at which a row begins; behind the last one the end of the text."""
        starts = self._source.line_starts
        return starts[row - 1] if row <= len(starts) else len(self._source.text)

    def is_comment(self, row: int) -> bool:
        """Whether a row holds nothing but a comment."""
        return self._source.line(row).lstrip(" \t").startswith("#")

    def changes(self) -> list[Change]:
        """The edits: disjoint, and each row has its own."""
        gone: list[Span] = []
        for span in sorted(self._gone):
            if gone and gone[-1].end == span.start:
                span = Span(gone.pop().start, span.end)
            gone.append(span)
        found = [*((span, "") for span in gone), *self._replaced]
        for row, (old, new) in self._indents.items():
            start, same = self.start(row), len(_common_start(old, new))
            if old != new and not self.goes(start):
                found.append((Span(start + same, start + len(old)), new[same:]))
        return found


class _Part(NamedTuple):
    """One branch of a chain of ``if``, ``elif`` and ``else``."""

    node: ast.If | None
    """None for ``else``."""
    keyword: int
    """Offset of the word that it begins with."""
    row: int
    """Row of that word."""
    colon: int
    """Offset behind the colon."""
    body: int
    """Offset of the first statement, or of the comment behind the colon; 0 where that is the end of a row."""
    first: int
    """The first row of the block; 0 for statements on the row of the colon."""
    indent: str
    """What rows of the block begin with."""
    last: int
    """The last row, comments of the block behind its statements included."""
    remarks: int
    """The last row of comments behind it that are indented, if not as much as the block; ``last`` where none are."""


def _parts(index: SemanticIndex, rows: Rows, head: ast.If) -> list[_Part] | None:
    """The branches of a chain; None where they cannot be told apart by rows."""
    source, tree = index.source, index.tree
    if not rows.are_plain:
        return None
    parts: list[_Part] = []
    node: ast.If | None = head
    keyword, body = tree.start(head), head.body
    while True:
        row = source.row(keyword)
        colon = _COLON.match(source.text, tree.end(node.test) if node is not None else keyword + len("else"))
        if colon is None or rows.start(row) + len(rows.indent(row)) != keyword:
            return None
        part = _part(index, rows, node, keyword, colon.end(), body)
        if part is None:
            return None
        parts.append(part)
        if node is None or not node.orelse:
            return parts
        following = node.orelse[0]
        body = node.orelse
        if isinstance(following, ast.If) and tree.is_elif(following):
            node, keyword, body = following, tree.start(following), following.body
            continue
        match = _ELSE.match(source.text, tree.end(node.body[-1]))
        if match is None:
            return None
        node, keyword = None, match.start(1)


def _part(
    index: SemanticIndex, rows: Rows, node: ast.If | None, keyword: int, colon: int, body: list[ast.stmt]
) -> _Part | None:
    source, tree = index.source, index.tree
    row, start, last = source.row(keyword), tree.start(body[0]), source.row(tree.end(body[-1]))
    blanks = _BLANKS.match(source.text, colon)
    behind = blanks.end() if blanks else colon
    if behind == start:
        return _Part(node, keyword, row, colon, start, 0, "", last, last)
    first = source.row(start)
    indent, outer = rows.indent(first), rows.indent(row)
    if rows.start(first) + len(indent) != start or source.line(first - 1).endswith("\\"):
        return None
    remarks, at = last, last + 1
    while at <= rows.last and (line := source.line(at).strip(" \t"))[:1] in ("", "#"):
        if rows.indent(at).startswith(indent):
            last = remarks = at
        elif line and len(rows.indent(at)) > len(outer):
            remarks = at
        at += 1
    comment = behind if source.text.startswith("#", behind) else 0
    return _Part(node, keyword, row, colon, comment, source.row(colon) + 1, indent, last, remarks)


def _unwrap(rows: Rows, parts: Sequence[_Part], values: Mapping[ast.If, bool], last: int) -> None:
    """Leave what is left of a chain; ``last`` is the last row of what goes behind it, 0 where nothing does."""
    left: list[_Part] = []
    for part in parts:
        value = part.node is None or values.get(part.node)
        if value is not False:
            left.append(part)
        if value:
            break
    first, end = left[0], left[-1]
    for part, following in pairwise(parts):
        if part not in left and part.keyword < end.keyword:
            # Comments above the next branch stay; blank rows set it off from what goes.
            kept = (row for row in range(part.last + 1, following.row) if rows.is_comment(row))
            rows.cut_rows(part.row, next(kept, following.row) - 1)
    rows.cut_rows((end.last if end is parts[-1] else end.remarks) + 1, max(last, parts[-1].last))
    is_taken = end.node is None or values.get(end.node) is True
    if is_taken and end is first:
        _take_out(rows, end)
    elif is_taken and end.node is not None:
        rows.replace(end.keyword, end.colon - len(":"), "else")
    if first is not parts[0] and not (is_taken and end is first):
        rows.cut(first.keyword, first.keyword + len("el"))


def _take_out(rows: Rows, part: _Part) -> None:
    """Leave the statements of a branch, and the comment behind its colon, in the block around it."""
    indent = rows.indent_to_be(part.row)
    if part.body:
        rows.cut(part.keyword, part.body)
    else:
        rows.cut_rows(part.row, part.first - 1)
    if part.first:
        rows.indent_as(range(part.first, part.last + 1), part.indent, indent)


def last_row(index: SemanticIndex, head: ast.If, last: ast.stmt) -> int:
    """The last row of a statement, or of the comments behind it that stand in its last branch."""
    source = index.source
    _, column = source.position(index.tree.start(head))
    end = row = source.row(index.tree.end(last))
    _, lower = source.cell_rows(row)
    while row < lower:
        row += 1
        line = source.line(row)
        text = line.lstrip()
        if text and not (text.startswith("#") and len(line) - len(text) >= column):
            break
        end = row if text else end
    return end


def _rows_within_strings(index: SemanticIndex, first: int, lines: Sequence[str]) -> set[int] | None:
    """Rows that begin within a string, of some rows; None where they cannot be read."""
    behind = first + len(lines)
    formatted = any(one.lineno < behind and one.end_lineno != one.lineno for one in index.tree.fstrings)
    if not formatted and not any("'''" in line or '"""' in line or line.endswith("\\") for line in lines):
        return set()
    import tokenize

    rows: set[int] = set()
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(f"{line}\n" for line in lines)).readline):
            name = tokenize.tok_name[token.type]
            if name in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif name in ("STRING", "FSTRING_END", "TSTRING_END"):
                start = token.start[0] if name == "STRING" else opened.pop()
                rows.update(range(first + start, first + token.end[0]))
    except (tokenize.TokenError, SyntaxError):
        return None
    return rows


def _common_start(one: str, other: str) -> str:
    return next(one[:length] for length in range(len(one), -1, -1) if other.startswith(one[:length]))
