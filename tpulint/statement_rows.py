"""How a statement stands on its rows: its indentation, its neighbours, the comments beside and above it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpulint.comments import comments_of

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SPACE = re.compile(r"[ \t\f]*")


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
        comment_end = self._source.line_starts[row - 2] + len(above)
        return "#" not in above or all(span.end != comment_end for span in comments_of(self._source))

    def are_shared(self, statement: ast.stmt) -> bool:
        """Whether other code stands on the statement's first or last line."""
        source, end = self._source, self._tree.end(statement)
        behind = source.text[end : source.line_end(end)]
        return not self.begins_row(statement) or not is_comment_at_most(behind)

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


def is_comment_at_most(text: str) -> bool:
    """Whether the rest of a line holds no code."""
    return re.match(r"[ \t\f]*(#.*)?$", text, re.DOTALL) is not None
