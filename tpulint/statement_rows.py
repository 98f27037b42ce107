"""How a statement stands on its rows: its indentation, its neighbours, the comments beside and above it."""

from __future__ import annotations

import ast
import re

from tpulint.model import Edit, Span, Suite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SPACE = re.compile(r"[ \t\f]*")
_GAP = r"(?:[ \t\f]|\\(?:\r\n|\r|\n))*"
_SEMICOLON = f"{_GAP};{_GAP}"
_SEMICOLON_BEFORE = f"{_GAP};{_GAP}$"
"""Between two statements of a row, which a backslash may break before and behind it."""
_INNER_COMMENT = re.compile(r"[ \t]+#")
_WITH_BLOCKS = (
    ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
)  # fmt: skip
_LONGEST_GAP = 200
"""Characters above a row in which the semicolon in front of its first statement is looked for."""


class StatementRows:
    """What the rows of a file's statements look like."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._source = index.source
        self._tree = index.tree

    def indent_of(self, statement: ast.stmt) -> str:
        """The blanks in front of a statement's first line."""
        match = _SPACE.match(self._source.text, self._source.line_start(self._tree.start(statement)))
        assert match is not None
        return match.group().lstrip("\f")

    def unit_of(self, statement: ast.stmt) -> str:
        """By how much a block inside a statement's own is indented: as much as that is inside the one around it."""
        indent, holder = self.indent_of(statement), self._index.parent(statement)
        outer = self.indent_of(holder) if isinstance(holder, ast.stmt) else indent
        return indent.removeprefix(outer) or ("\t" if indent.endswith("\t") else "    ")

    def begins_row(self, statement: ast.stmt) -> bool:
        """Whether no code stands in front of a statement on its first line, nor on one that a backslash joins to it."""
        source, start = self._source, self._tree.start(statement)
        row_start = source.line_start(start)
        return not source.text[row_start:start].strip() and not self._is_continued(row_start)

    def _is_continued(self, row_start: int) -> bool:
        row = self._source.row(row_start)
        above = self._source.line(row - 1) if row > 1 else ""
        if not above.endswith("\\"):
            return False
        if "#" not in above:
            return True
        from tpulint.comments import comments_of

        comment_end = self._source.line_starts[row - 2] + len(above)
        return all(span.end != comment_end for span in comments_of(self._source))

    def are_shared(self, statement: ast.stmt) -> bool:
        """Whether other code stands on the statement's first or last line."""
        source, end = self._source, self._tree.end(statement)
        behind = source.text[end : source.line_end(end)]
        return not self.begins_row(statement) or not is_comment_at_most(behind)

    def removal(self, statement: ast.stmt, indent: str | None = None) -> Edit:
        """The edit that takes a statement out: with its line, or with one semicolon where it shares the line.

        ``indent`` is what the block will be indented by, if other edits change that.
        """
        tree, text = self._tree, self._source.text
        suite = tree.suite_of(statement)
        mark: Suite | None = Suite(tree.start(suite[0]), len(suite))
        if isinstance(tree.parents[statement], ast.Module):
            mark = None  # a module may be empty
        span = tree.span(statement)
        line_start = self._source.line_start(span.start)
        line_end = self._source.line_end(span.end)
        after = text[span.end : line_end]
        ends_row = is_comment_at_most(re.sub(r"^[ \t\f]*;", "", after, count=1) if ";" in after else after)
        if ends_row and self.begins_row(statement):
            end = self._source.past_newline(line_end)
            own = text[line_start : span.start] if indent is None else indent
            return Edit(Span(line_start, end), "", mark, f"{own}pass{text[line_end:end]}")
        follows = re.compile(_SEMICOLON).match(text, span.end)
        if follows and not is_comment_at_most(text[follows.end() : self._source.line_end(follows.end())]):
            return Edit(Span(span.start, follows.end()), "", mark, f"pass{follows.group()}")
        if match := re.compile(_SEMICOLON_BEFORE).search(text, max(0, line_start - _LONGEST_GAP), span.start):
            return Edit(Span(match.start(), span.end), "", mark, f"{match.group()}pass")
        end = span.end + (match.end() if (match := re.match(r"[ \t\f]*;", after)) else 0)
        return Edit(Span(span.start, end), "", mark, "pass")

    def have_comment(self, statement: ast.stmt) -> bool:
        """Whether a comment stands on a line of a statement."""
        source, tree = self._source, self._tree
        rows = range(source.row(tree.start(statement)), source.row(tree.end(statement)) + 1)
        return any("#" in source.line(row) for row in rows)

    def comments_above(self, statement: ast.stmt) -> int:
        """Offset of the first of the comment lines right above a statement, indented like it."""
        source = self._source
        row, indent = source.row(self._tree.start(statement)), self.indent_of(statement)
        upper, _ = source.cell_rows(row)
        while row > upper and source.line(row - 1).startswith(indent + "#"):
            row -= 1
        return source.line_starts[row - 1]

    def end_of_block(self, statement: ast.stmt) -> int:
        """Where the last line of a statement ends, or of the comments below that are indented as what is inside it."""
        source, indent = self._source, self.indent_of(statement)
        row = source.row(self._tree.end(statement))
        last = row
        if isinstance(statement, _WITH_BLOCKS):
            for below in range(row + 1, source.cell_rows(row)[1] + 1):
                line = source.line(below)
                if line.startswith(indent) and _INNER_COMMENT.match(line, len(indent)):
                    last = below
                elif line.strip():
                    break
        return source.line_starts[last - 1] + len(source.line(last))


def is_comment_at_most(text: str) -> bool:
    """Whether the rest of a line holds no code."""
    rest = text.lstrip(" \t\f")
    return rest in ("", "\n") or rest.startswith("#")
