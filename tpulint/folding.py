"""Folding: what is left of a text once some of its conditions are known, as the smallest spans that go."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from tpulint.cuts import Cuts
from tpulint.unwrapping import Unwrapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex

_FILLER = r"(?:[\s()\\]|#[^\r\n]*)*"
"""What may stand between two expressions besides the word that joins them."""
_CLOSING = re.compile(r"(?:(?:[\s\\]|#[^\r\n]*)*\))*")
_BLANK = re.compile(r"(?:[\s\\]|#[^\r\n]*)*")


class Folding:
    """What follows from the known conditions of one text: parts of expressions, guards and branches that go.

    Further changes of the same fix are given to it as well, because they may stand in text that goes.
    """

    def __init__(self, fix: FixBuilder, index: SemanticIndex, known: Mapping[ast.expr, bool]) -> None:
        self._fix = fix
        self._index = index
        self._text = index.source.text
        self._known = known
        self._cuts = Cuts(index)
        self._values = {root: self._fold(root) for root in dict.fromkeys(self._root(node) for node in known)}
        decided: dict[ast.If, bool] = {}
        for root, value in self._values.items():
            parent = index.parent(root)
            if value is None:
                continue
            if isinstance(parent, ast.If) and parent.test is root:
                decided[parent] = value
            elif isinstance(parent, ast.Expr) or (isinstance(parent, ast.Assert) and parent.test is root and value):
                self._cuts.deleted.append(parent)
            else:
                self.replace(root, str(value))
        self._unwrapping = Unwrapping(index, self._cuts, decided)

    @property
    def kept(self) -> list[list[ast.stmt]]:
        """Branches that are now always taken."""
        return self._unwrapping.kept

    def drops(self, node: ast.AST) -> bool:
        """Whether a node stands in text that goes."""
        return self._cuts.drops(self._index.span(node))

    def value(self, node: ast.expr) -> bool | None:
        """The value of a whole condition that a known one is, or is part of; None where that is open."""
        return self._values.get(node)

    def rest(self, node: ast.expr) -> ast.expr:
        """The part of an expression that is left of it, where folding leaves one of its parts alone."""
        if isinstance(node, ast.IfExp) and (value := self._fold(node.test)) is not None:
            return self.rest(node.body if value else node.orelse)
        return node

    def replace(self, node: ast.AST, text: str) -> None:
        """Put ``text`` where a node stands, unless it goes."""
        self._cuts.replacements.append((self._index.span(node), text))

    def delete(self, statement: ast.stmt) -> None:
        """Remove a statement, unless it goes anyway."""
        self._cuts.deleted.append(statement)

    def write(self) -> None:
        """Add the edits to the fix."""
        self._unwrapping.write()
        self._cuts.write(self._fix)

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
                self._cuts.cut(self._left_end(node.body, node.test, "if"), span.end)
            else:
                self._cuts.cut(span.start, self._right_start(node.test, node.orelse, "else"))
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
                self._cuts.cut(ends[number - 1], ends[number])
            else:
                self._cuts.cut(starts[number], starts[number + 1])
        left_over = [item for item, value in zip(node.values, values, strict=True) if value is None]
        statement = self._index.parent(node)
        if len(left_over) == 1 and isinstance(statement, ast.Assign):
            # `args.cuda = args.cuda and is_available()` would leave `args.cuda = args.cuda`
            same = self._index.text(left_over[0])
            if [self._index.text(target) for target in statement.targets] == [same]:
                self._cuts.deleted.append(statement)
        return None

    def _keyword(self, left: ast.expr, right: ast.expr, word: str) -> tuple[int, int]:
        start, end = self._index.tree.end(left), self._index.tree.start(right)
        match = re.compile(_FILLER + rf"\b({word})\b").match(self._text, start, end)
        if match is None:
            self._cuts.possible = False
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
