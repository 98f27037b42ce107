"""Unwrapping: taking the branch of a decided ``if`` out of it, line by line; comments and strings keep their text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tpulint.model import Span

if TYPE_CHECKING:
    from tpulint.cuts import Cuts
    from tpulint.semantic import SemanticIndex

FILLER = r"(?:[\s()\\]|#[^\r\n]*)*"
"""What may stand between two parts of a statement besides the word or sign that joins them."""
_COLON = re.compile(FILLER + ":")
_ELSE = re.compile(r"(?:[\s\\;]|#[^\r\n]*)*\b(else)\b" + FILLER + ":")
_INDENT = re.compile(r"[ \t\f]*")
_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_DEAD = (*_JUMPS, ast.Pass, ast.Expr)
_DEAD_LIMIT = 3
"""More statements than that behind a branch that leaves are a part of the program worth keeping in sight."""


class Unwrapping:
    """Cuts for the decided ``if`` statements of one text."""

    def __init__(self, index: SemanticIndex, cuts: Cuts, decided: Mapping[ast.AST, bool]) -> None:
        self._index = index
        self._text = index.source.text
        self._cuts = cuts
        self._decided = decided
        self._string_rows: frozenset[int] | None = None
        self.kept: list[list[ast.stmt]] = []
        """Branches that are now always taken."""

    def fold(self, node: ast.If, value: bool) -> None:
        """Cut what a decided condition makes unreachable, and the ``if`` itself."""
        index = self._index
        start, end = index.tree.start(node), self._line_end(index.tree.end(node))
        colon = self._colon(node)
        following = node.orelse[0] if node.orelse else None
        chained = following if isinstance(following, ast.If) and self._is_elif(following) else None
        if self._is_elif(node):
            if value:
                self._cuts.replacements.append((Span(start, colon), "else"))
                if node.orelse:
                    self._cuts.cut(self._line_end_of_row(self._last_row(node, node.body)), end)
            elif following is None:
                holder = index.parent(node)
                assert isinstance(holder, ast.If)
                self._cuts.cut(self._line_end(index.tree.end(holder.body[-1])), end)
            else:
                self._cuts.cut(start, index.tree.start(chained) if chained else self._else_of(node)[0])
            return
        if value:
            if node.orelse:
                self._cuts.cut(self._line_end_of_row(self._last_row(node, node.body)), end)
            self._unwrap(node, node.body, start, colon)
        elif chained is not None:
            if chained in self._decided:
                self._cuts.possible = False
                return
            self._cuts.cut(start, index.tree.start(chained) + len("el"))
        elif node.orelse:
            word, behind = self._else_of(node)
            if self._text[self._line_start(word) : word].strip():
                self._cuts.possible = False
                return
            self._cuts.cut(self._line_start(start), self._line_start(word))
            self._unwrap(node, node.orelse, word, behind - 1)
        else:
            self._cuts.deleted.append(node)

    def _unwrap(self, node: ast.If, body: list[ast.stmt], start: int, colon: int) -> None:
        """Cut a header that begins at ``start`` and take its body one level out."""
        if self._deletes_all(body):
            self._cuts.deleted.append(node)
            return
        self.kept.append(body)
        self._drop_overwritten(node, body)
        first = self._index.tree.start(body[0])
        line_end = self._line_end(colon)
        if first < line_end:
            self._cuts.cut(start, first)
        else:
            rest = self._text[colon + 1 : line_end]
            if rest.strip():
                self._cuts.cut(start, colon + 1 + len(rest) - len(rest.lstrip()))
            else:
                self._cuts.cut(self._line_start(start), self._past_newline(line_end))
            self._dedent(node, body, self._index.source.row(colon) + 1)
        self._cut_dead(node, body)

    def _deletes_all(self, body: list[ast.stmt]) -> bool:
        return all(
            item in self._cuts.deleted
            or (isinstance(item, ast.Assert) and self._decided.get(item) is True)
            or (isinstance(item, ast.If) and self._decided.get(item) is False and not item.orelse)
            for item in body
        )

    def _dedent(self, node: ast.If, body: list[ast.stmt], first_row: int) -> None:
        source = self._index.source
        outer = self._indent(source.row(self._index.tree.start(node)))
        inner = self._indent(source.row(self._index.tree.start(body[0])))
        if not inner.startswith(outer) or inner == outer:
            self._cuts.possible = False
            return
        in_strings = self._rows_in_strings()
        for row in range(first_row, self._last_row(node, body) + 1):
            line = source.line(row)
            if row in in_strings or not line.strip():
                continue
            indent = self._indent(row)
            if indent.startswith(inner):
                self._cuts.dedents.setdefault(row, []).append((len(outer), len(inner)))
            elif len(indent) > len(outer):
                self._cuts.dedents.setdefault(row, []).append((len(outer), len(indent)))

    def _last_row(self, node: ast.If, body: list[ast.stmt]) -> int:
        """Last row of a branch: comments behind its statements belong to it as long as they are indented."""
        source = self._index.source
        outer = self._indent(source.row(self._index.tree.start(node)))
        last = row = source.row(self._index.tree.end(body[-1]))
        while row < source.row_count:
            row += 1
            line = source.line(row)
            if line.strip() and not (line.lstrip().startswith("#") and len(self._indent(row)) > len(outer)):
                break
            if line.strip():
                last = row
        return last

    def _rows_in_strings(self) -> frozenset[int]:
        """Rows that begin inside a string: their blanks belong to its value."""
        if self._string_rows is None:
            rows: set[int] = set()
            opened: list[int] = []
            lines = re.sub(r"\r\n|\r", "\n", self._text)
            for token in tokenize.generate_tokens(io.StringIO(lines).readline):
                name = tokenize.tok_name[token.type]
                if name == "STRING":
                    rows.update(range(token.start[0] + 1, token.end[0] + 1))
                elif name in ("FSTRING_START", "TSTRING_START"):
                    opened.append(token.start[0])
                elif name in ("FSTRING_END", "TSTRING_END"):
                    rows.update(range(opened.pop() + 1, token.end[0] + 1))
            self._string_rows = frozenset(rows)
        return self._string_rows

    def _cut_dead(self, node: ast.If, body: list[ast.stmt]) -> None:
        """A branch that always leaves makes the few statements behind it unreachable."""
        suite = self._index.tree.suite_of(node)
        behind = suite[next(i for i, item in enumerate(suite) if item is node) + 1 :]
        if not behind or len(behind) > _DEAD_LIMIT or not isinstance(body[-1], _JUMPS):
            return
        yields = any(isinstance(inner, ast.Yield | ast.YieldFrom) for item in behind for inner in ast.walk(item))
        if yields or not all(isinstance(item, _DEAD) for item in behind):
            return
        begin = self._line_end(self._index.tree.end(node))
        self._cuts.cut(begin, self._line_end(self._index.tree.end(behind[-1])))

    def _drop_overwritten(self, node: ast.If, body: list[ast.stmt]) -> None:
        """``device = "cpu"`` in front of a branch that is now always taken and begins by setting it anew."""
        suite = self._index.tree.suite_of(node)
        at = next(i for i, item in enumerate(suite) if item is node)
        before, first = suite[at - 1] if at else None, body[0]
        if isinstance(before, ast.Assign) and isinstance(first, ast.Assign) and isinstance(before.value, ast.Constant):
            old, new = before.targets[0], first.targets[0]
            if len(before.targets) + len(first.targets) != 2 or not (
                isinstance(old, ast.Name) and isinstance(new, ast.Name)
            ):
                return
            read = any(isinstance(inner, ast.Name) and inner.id == old.id for inner in ast.walk(first.value))
            if old.id == new.id and not read:
                self._cuts.deleted.append(before)

    # ---------------------------------------------------------------- text

    def _colon(self, node: ast.If) -> int:
        match = _COLON.match(self._text, self._index.tree.end(node.test))
        if match is None:
            self._cuts.possible = False
            return self._index.tree.end(node.test)
        return match.end() - 1

    def _else_of(self, node: ast.If) -> tuple[int, int]:
        """Offsets of the ``else`` of a statement and behind its colon."""
        end = self._index.tree.end(node.body[-1])
        match = _ELSE.match(self._text, end)
        if match is None:
            self._cuts.possible = False
            return end, end
        return match.start(1), match.end()

    def _indent(self, row: int) -> str:
        match = _INDENT.match(self._index.source.line(row))
        return match.group() if match else ""

    def _line_start(self, offset: int) -> int:
        source = self._index.source
        return source.line_starts[source.row(offset) - 1]

    def _line_end(self, offset: int) -> int:
        return self._line_end_of_row(self._index.source.row(offset))

    def _line_end_of_row(self, row: int) -> int:
        source = self._index.source
        return source.line_starts[row - 1] + len(source.line(row))

    def _past_newline(self, offset: int) -> int:
        return offset + (
            2 if self._text.startswith("\r\n", offset) else 1 if self._text[offset : offset + 1] in ("\n", "\r") else 0
        )

    def _is_elif(self, node: ast.If) -> bool:
        return self._text.startswith("elif", self._index.tree.start(node))
