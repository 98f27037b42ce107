"""Folding: what is left of a text once some of its conditions are known, as the smallest spans that go."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tpulint.model import Span

if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex

# What may stand between two parts of an expression besides the keyword that joins them.
_FILLER = r"(?:[\s()\\]|#[^\r\n]*)*"
_CLOSING = re.compile(r"(?:(?:[\s\\]|#[^\r\n]*)*\))*")
_BLANK = re.compile(r"(?:[\s\\]|#[^\r\n]*)*")
_COLON = re.compile(_FILLER + ":")
_INDENT = re.compile(r"[ \t\f]*")
_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_DEAD = (*_JUMPS, ast.Pass, ast.Expr)
_DEAD_LIMIT = 3


class Folding:
    """Cuts, replacements and lost indentation that follow from the known conditions of one text."""

    def __init__(self, fix: FixBuilder, index: SemanticIndex, known: Mapping[ast.expr, bool]) -> None:
        self._fix = fix
        self._index = index
        self._text = index.source.text
        self._known = known
        self.possible = True
        """False when a condition stands where it cannot be folded."""
        self._cuts: list[Span] = []
        self._replacements: list[tuple[Span, str]] = []
        self._deleted: list[ast.stmt] = []
        self._dedents: dict[int, list[tuple[int, int]]] = {}
        """Row to the ranges of columns that go."""
        self._decided: dict[ast.If, bool] = {}
        self.kept: list[list[ast.stmt]] = []
        """Branches that are now always taken."""
        self._string_rows: frozenset[int] | None = None
        roots = dict.fromkeys(self._root(node) for node in known)
        values = {root: self._fold(root) for root in roots}
        for root, value in values.items():
            parent = index.parent(root)
            if value is not None and isinstance(parent, ast.If) and parent.test is root:
                self._decided[parent] = value
        for root, value in values.items():
            self._place(root, value)

    # ---------------------------------------------------------------- result

    def drops(self, node: ast.AST) -> bool:
        """Whether a node stands in text that goes."""
        return self._drops(self._index.span(node))

    def _drops(self, span: Span) -> bool:
        gone = [*self._cuts, *(self._index.span(statement) for statement in self._deleted)]
        return any(_within(span, cut) for cut in gone)

    def rest(self, node: ast.expr) -> ast.expr:
        """The part of an expression that is left of it, where folding leaves one of its parts alone."""
        if isinstance(node, ast.IfExp) and (value := self._fold(node.test)) is not None:
            return self.rest(node.body if value else node.orelse)
        return node

    def replace(self, node: ast.expr, text: str) -> None:
        """Put ``text`` where an expression stands, unless it goes."""
        self._replacements.append((self._index.span(node), text))

    def delete(self, statement: ast.stmt) -> None:
        """Remove a statement, unless it goes anyway."""
        self._deleted.append(statement)

    def write(self) -> None:
        """Add the edits to the fix."""
        fix = self._fix
        if not self.possible:
            fix.give_up()
            return
        outer = [span for span in dict.fromkeys(self._cuts) if not self._inside_other(span)]
        # Two cuts may overlap at a border, such as a branch and the dead statements behind it.
        merged: list[Span] = []
        for span in sorted(outer):
            if merged and span.start < merged[-1].end:
                merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
            else:
                merged.append(span)
        for span in merged:
            fix.replace(span, "")
        for span, text in dict.fromkeys(self._replacements):
            if not self._drops(span) and not any(
                other != span and _within(span, other) for other, _ in self._replacements
            ):
                fix.replace(span, text)
        for statement in dict.fromkeys(self._deleted):
            span = self._index.span(statement)
            if not any(_within(span, cut) for cut in merged) and not any(
                other is not statement and self._index.tree.encloses(other, statement) for other in self._deleted
            ):
                fix.delete(statement)
        starts = self._index.source.line_starts
        for row, ranges in self._dedents.items():
            for first, last in ranges:
                span = Span(starts[row - 1] + first, starts[row - 1] + last)
                if not fix.covers(span):
                    fix.replace(span, "")

    def _inside_other(self, span: Span) -> bool:
        """Whether a cut is part of a wider edit."""
        wider = [*self._cuts, *(s for s, _ in self._replacements), *(self._index.span(s) for s in self._deleted)]
        return any(other != span and _within(span, other) for other in wider)

    # ---------------------------------------------------------------- expressions

    def _root(self, node: ast.expr) -> ast.expr:
        """The outermost condition whose value depends on the node."""
        while True:
            parent = self._index.parent(node)
            if (
                isinstance(parent, ast.BoolOp)
                or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))
                or (isinstance(parent, ast.IfExp) and parent.test is node)
                or (isinstance(parent, ast.Call) and self._is_bool_of(parent, node))
                or (isinstance(parent, ast.Compare) and self._constant_beside(parent) is not None)
            ):
                node = parent
            else:
                return node

    def _is_bool_of(self, call: ast.Call, node: ast.expr) -> bool:
        return (
            len(call.args) == 1
            and call.args[0] is node
            and not call.keywords
            and self._index.qualified_name(call.func) == "builtins.bool"
        )

    def _constant_beside(self, node: ast.Compare) -> bool | None:
        """The constant of ``x == True`` and its like."""
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            right = node.comparators[0]
            if isinstance(right, ast.Constant) and isinstance(right.value, bool):
                return right.value
        return None

    def _fold(self, node: ast.expr) -> bool | None:
        """Value of a condition where it is decided; else None, with the cuts that leave what is not."""
        if node in self._known:
            return self._known[node]
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, bool) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self._fold(node.operand)
            return None if value is None else not value
        if isinstance(node, ast.Call):
            if len(node.args) == 1 and self._is_bool_of(node, node.args[0]):
                return self._fold(node.args[0])
            return None
        if isinstance(node, ast.Compare):
            constant = self._constant_beside(node)
            if constant is None:
                return None
            value = self._fold(node.left)
            return None if value is None else (value == constant) == isinstance(node.ops[0], ast.Eq | ast.Is)
        if isinstance(node, ast.BoolOp):
            return self._fold_operands(node)
        if isinstance(node, ast.IfExp):
            value = self._fold(node.test)
            if value is None:
                return None
            chosen = node.body if value else node.orelse
            span = self._index.span(node)
            if value:
                self._cuts.append(Span(self._left_end(node.body, node.test, "if"), span.end))
            else:
                self._cuts.append(Span(span.start, self._right_start(node.test, node.orelse, "else")))
            return self._fold(chosen)
        return None

    def _fold_operands(self, node: ast.BoolOp) -> bool | None:
        neutral = isinstance(node.op, ast.And)
        word = "and" if neutral else "or"
        values = [self._fold(item) for item in node.values]
        if (not neutral) in values:
            return not neutral
        if None not in values:
            return neutral
        span = self._index.span(node)
        starts = [span.start]
        ends = []
        for left, right in zip(node.values, node.values[1:], strict=False):
            ends.append(self._left_end(left, right, word))
            starts.append(self._right_start(left, right, word))
        ends.append(span.end)
        kept = False
        for number, value in enumerate(values):
            if value is None:
                kept = True
            elif kept:
                self._cuts.append(Span(ends[number - 1], ends[number]))
            else:
                self._cuts.append(Span(starts[number], starts[number + 1]))
        left_over = [item for item, value in zip(node.values, values, strict=True) if value is None]
        statement = self._index.parent(node)
        if len(left_over) == 1 and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            # `args.cuda = args.cuda and is_available()` would leave `args.cuda = args.cuda`
            if self._index.text(statement.targets[0]) == self._index.text(left_over[0]):
                self._deleted.append(statement)
        return None

    def _keyword(self, left: ast.expr, right: ast.expr, word: str) -> tuple[int, int]:
        start, end = self._index.tree.end(left), self._index.tree.start(right)
        match = re.compile(_FILLER + rf"\b({word})\b").match(self._text, start, end)
        if match is None:
            self.possible = False
            return start, end
        return match.start(1), match.end(1)

    def _left_end(self, left: ast.expr, right: ast.expr, word: str) -> int:
        """Offset behind the left expression with its own parentheses."""
        end = self._index.tree.end(left)
        match = _CLOSING.match(self._text, end, self._keyword(left, right, word)[0])
        return match.end() if match else end

    def _right_start(self, left: ast.expr, right: ast.expr, word: str) -> int:
        """Offset of the right expression with its own parentheses."""
        end = self._keyword(left, right, word)[1]
        match = _BLANK.match(self._text, end)
        return match.end() if match else end

    # ---------------------------------------------------------------- statements

    def _place(self, root: ast.expr, value: bool | None) -> None:
        """Fold the statement around a decided condition, or write its value."""
        if value is None:
            return
        parent = self._index.parent(root)
        if isinstance(parent, ast.If) and parent.test is root:
            self._fold_if(parent, value)
        elif isinstance(parent, ast.Expr) or (isinstance(parent, ast.Assert) and value):
            if isinstance(parent, ast.Assert) and parent.test is not root:
                return  # the message
            self._deleted.append(parent)
        else:
            self._replacements.append((self._index.span(root), str(value)))

    def _is_elif(self, node: ast.If) -> bool:
        return self._text.startswith("elif", self._index.tree.start(node))

    def _fold_if(self, node: ast.If, value: bool) -> None:
        index = self._index
        start, end = index.tree.start(node), self._line_end(index.tree.end(node))
        colon = self._colon(node)
        following = node.orelse[0] if node.orelse else None
        chained = following if isinstance(following, ast.If) and self._is_elif(following) else None
        if self._is_elif(node):
            if value:
                self._replacements.append((Span(start, colon), "else"))
                if node.orelse:
                    self._cuts.append(Span(self._line_end_of_row(self._last_row(node, node.body)), end))
            elif following is None:
                holder = index.parent(node)
                assert isinstance(holder, ast.If)
                self._cuts.append(Span(self._line_end(index.tree.end(holder.body[-1])), end))
            else:
                self._cuts.append(Span(start, index.tree.start(chained) if chained else self._else_of(node)[0]))
            return
        if value:
            if node.orelse:
                self._cuts.append(Span(self._line_end_of_row(self._last_row(node, node.body)), end))
            self._unwrap(node, node.body, start, colon)
        elif chained is not None:
            if chained in self._decided:
                self.possible = False
                return
            self._cuts.append(Span(start, index.tree.start(chained) + len("el")))
        elif node.orelse:
            word, behind = self._else_of(node)
            if self._text[self._line_start(word) : word].strip():
                self.possible = False
                return
            self._cuts.append(Span(self._line_start(start), self._line_start(word)))
            self._unwrap(node, node.orelse, word, behind - 1)
        else:
            self._deleted.append(node)

    def _unwrap(self, node: ast.If, body: list[ast.stmt], start: int, colon: int) -> None:
        """Cut a header that begins at ``start`` and take its body one level out."""
        if self._deletes_all(body):
            self._deleted.append(node)
            return
        self.kept.append(body)
        self._drop_overwritten(node, body)
        first = self._index.tree.start(body[0])
        line_end = self._line_end(colon)
        if first < line_end:
            self._cuts.append(Span(start, first))
        else:
            rest = self._text[colon + 1 : line_end]
            if rest.strip():
                self._cuts.append(Span(start, colon + 1 + len(rest) - len(rest.lstrip())))
            else:
                self._cuts.append(Span(self._line_start(start), self._past_newline(line_end)))
            self._dedent(node, body, self._index.source.row(colon) + 1)
        self._cut_dead(node, body)

    def _deletes_all(self, body: list[ast.stmt]) -> bool:
        return all(
            item in self._deleted
            or (isinstance(item, ast.Assert) and self._fold(item.test))
            or (isinstance(item, ast.If) and self._decided.get(item) is False and not item.orelse)
            for item in body
        )

    def _dedent(self, node: ast.If, body: list[ast.stmt], first_row: int) -> None:
        source = self._index.source
        outer = self._indent(source.row(self._index.tree.start(node)))
        inner = self._indent(source.row(self._index.tree.start(body[0])))
        if not inner.startswith(outer) or inner == outer:
            self.possible = False
            return
        in_strings = self._rows_in_strings()
        for row in range(first_row, self._last_row(node, body) + 1):
            line = source.line(row)
            if row in in_strings or not line.strip():
                continue
            indent = self._indent(row)
            if indent.startswith(inner):
                self._dedents.setdefault(row, []).append((len(outer), len(inner)))
            elif len(indent) > len(outer):
                self._dedents.setdefault(row, []).append((len(outer), len(indent)))

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
        if not all(isinstance(item, _DEAD) for item in behind) or any(
            isinstance(n, ast.Yield | ast.YieldFrom) for n in _nodes(behind)
        ):
            return
        begin = self._line_end(self._index.tree.end(node))
        self._cuts.append(Span(begin, self._line_end(self._index.tree.end(behind[-1]))))

    def _drop_overwritten(self, node: ast.If, body: list[ast.stmt]) -> None:
        """``device = "cpu"`` in front of a branch that is now always taken and begins by setting it anew."""
        suite = self._index.tree.suite_of(node)
        at = next(i for i, item in enumerate(suite) if item is node)
        before, first = suite[at - 1] if at else None, body[0]
        if (
            not isinstance(before, ast.Assign)
            or not isinstance(first, ast.Assign)
            or not isinstance(before.value, ast.Constant)
        ):
            return
        old, new = before.targets, first.targets
        if (
            len(old) == len(new) == 1
            and isinstance(old[0], ast.Name)
            and isinstance(new[0], ast.Name)
            and old[0].id == new[0].id
        ):
            if not any(isinstance(n, ast.Name) and n.id == old[0].id for n in ast.walk(first.value)):
                self._deleted.append(before)

    # ---------------------------------------------------------------- text

    def _colon(self, node: ast.If) -> int:
        match = _COLON.match(self._text, self._index.tree.end(node.test))
        if match is None:
            self.possible = False
            return self._index.tree.end(node.test)
        return match.end() - 1

    def _else_of(self, node: ast.If) -> tuple[int, int]:
        """Offsets of the ``else`` of a statement and behind its colon."""
        end = self._index.tree.end(node.body[-1])
        match = re.compile(r"(?:[\s\\;]|#[^\r\n]*)*\b(else)\b" + _FILLER + ":").match(self._text, end)
        if match is None:
            self.possible = False
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


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _nodes(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)
