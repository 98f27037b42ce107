"""Rows of a file as libcst's tree, and the edits that lead to another tree: exact, because it shares nodes."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from tpulint.model import Span
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

Change = tuple[Span, str]

_HOLDER = "if 1:\n"
"""Stands above rows that are indented, which are no module by themselves."""
_DEEPEST = 300
"""Nesting far below that on which libcst's parser runs out of stack, which nothing could catch."""
_CONTINUED = re.compile(r"(?<=\\\n)[ \t]*")


class Code:
    """A tree, its text, and where in the text each node stands."""

    def __init__(self, module: cst.Module) -> None:
        self.module = module
        self.text = module.code
        self.starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
        self.spans = {
            node: Span(self.starts[at.start.line - 1] + at.start.column, self.starts[at.end.line - 1] + at.end.column)
            for node, at in places.items()
        }

    def written(self, node: cst.CSTNode) -> str:
        """The text of a node."""
        return self.text[slice(*self.spans[node])]

    def leaves(self) -> list[cst.CSTNode]:
        """The nodes that write text and have no such nodes in them, in order."""
        nodes = [node for node, span in self.spans.items() if span.start < span.end]
        nodes.sort(key=lambda node: (self.spans[node].start, -self.spans[node].end))
        return [
            node
            for node, following in zip_longest(nodes, nodes[1:])
            if following is None or self.spans[following].start >= self.spans[node].end
        ]


class ConcreteTree:
    """Whole rows of a file, parsed by libcst."""

    def __init__(self, source: SourceFile, first_row: int, code: Code) -> None:
        self._source = source
        self._first_row = first_row
        self._code = code
        self.module = code.module

    @classmethod
    def read(cls, index: SemanticIndex, statements: Sequence[ast.stmt], last_row: int) -> ConcreteTree | None:
        """The rows from the first of some statements down to a row.

        None where libcst does not understand them, or would write them differently.
        """
        source, start = index.source, index.tree.start(statements[0])
        row, column = source.position(start)
        indent = source.line(row)[: column - 1]
        if indent.strip(" \t") or any(map(_is_deep, statements)):
            return None
        text = "".join(f"{source.line(number)}\n" for number in range(row, last_row + 1))
        if indent:
            row, text = row - 1, _HOLDER + text
        try:
            code = Code(cst.parse_module(text))
        except Exception:  # of several kinds, and on valid Python too
            return None
        return cls(source, row, code) if code.text == text else None

    @property
    def statements(self) -> Sequence[cst.BaseStatement]:
        """The statements that the rows hold."""
        return self._block.body

    def with_statements(self, statements: Sequence[cst.BaseStatement]) -> cst.Module:
        """The tree with these statements in place of its own."""
        block = self._block.with_changes(body=statements)
        if isinstance(block, cst.Module):
            return block
        return self.module.with_changes(body=[self.module.body[0].with_changes(body=block)])

    @property
    def _block(self) -> cst.Module | cst.IndentedBlock:
        if not self._code.text.startswith(_HOLDER):
            return self.module
        return cst.ensure_type(cst.ensure_type(self.module.body[0], cst.If).body, cst.IndentedBlock)

    def ifs(self) -> dict[int, cst.If]:
        """Every ``if`` and ``elif`` by its offset in the file."""
        return {self._offset(span.start): node for node, span in self._code.spans.items() if isinstance(node, cst.If)}

    def holds(self, node: cst.CSTNode, others: Collection[cst.CSTNode]) -> bool:
        """Whether a node of the tree is one of some others or has one in it."""
        span = self._code.spans[node]
        return any(span.start <= self._code.spans[other].start < span.end for other in others)

    def changes_to(self, module: cst.Module) -> list[Change] | None:
        """The edits of the file that make its rows those of another tree, which shares nodes with this one.

        None where they would change the value of a string.
        """
        old, new = self._code, Code(module)
        for node in new.spans.keys() & old.spans.keys():
            if isinstance(node, cst.FormattedString) and old.written(node) != new.written(node):
                return None  # the text of an expression in it may be a part of its value
        return [(Span(self._offset(span.start), self._offset(span.end)), text) for span, text in _differences(old, new)]

    def _offset(self, offset: int) -> int:
        """Offset in the file of one in the text of the tree, whose newlines are all alike."""
        row = bisect_right(self._code.starts, offset)
        starts, number = self._source.line_starts, self._first_row + row - 2
        return starts[number] + offset - self._code.starts[row - 1] if number < len(starts) else len(self._source.text)


def _differences(old: Code, new: Code) -> Iterator[Change]:
    """What stands between the leaves that both texts have, where it is not the same. Each row has edits of its own."""
    at_old = at_new = 0
    indents = "", ""
    """Of the statement at hand, before and after."""
    for leaf in [*new.leaves(), None]:
        before = old.spans.get(leaf) if leaf is not None else Span(len(old.text), len(old.text))
        after = new.spans[leaf] if leaf is not None else Span(len(new.text), len(new.text))
        if before is None or before.start < at_old or old.text[slice(*before)] != new.text[slice(*after)]:
            continue
        gone, come = old.text[at_old : before.start], new.text[at_new : after.start]
        at_old, at_new = before.end, after.end
        rows_gone, _, row_gone = gone.rpartition("\n")
        rows_come, newline, row_come = come.rpartition("\n")
        row_start = before.start - len(row_gone)
        if "\n" in gone:
            yield from _difference(before.start - len(gone), f"{rows_gone}\n", f"{rows_come}{newline}")
            yield from _difference(row_start, row_gone, row_come)
        else:
            yield from _difference(before.start - len(gone), gone, come)
        if (row_gone + row_come).isspace() and (row_start == 0 or old.text[row_start - 1] == "\n"):
            indents = row_gone, row_come
        if isinstance(leaf, cst.SimpleWhitespace):
            for match in _CONTINUED.finditer(old.text, before.start, before.end):
                if match.group().startswith(indents[0]):
                    yield from _difference(match.start(), *indents)


def _difference(start: int, gone: str, come: str) -> Iterator[Change]:
    """The one edit, without the blanks in front and the code behind that stay."""
    if gone == come:
        return
    head = tail = 0
    shorter = min(len(gone), len(come))
    while head < shorter and gone[head] == come[head] and gone[head].isspace():
        head += 1
    while tail < shorter - head and gone[-tail - 1] == come[-tail - 1] and not gone[-tail - 1].isspace():
        tail += 1
    yield Span(start + head, start + len(gone) - tail), come[head : len(come) - tail]


def _is_deep(statement: ast.stmt) -> bool:
    """Whether a statement is nested so deeply that its parser might take the whole process down."""
    nodes: list[tuple[ast.AST, int]] = [(statement, 0)]
    while nodes:
        node, depth = nodes.pop()
        if isinstance(node, ast.BoolOp):
            depth += len(node.values)
        elif isinstance(node, ast.Constant | ast.JoinedStr):
            depth += (node.end_lineno or node.lineno) - node.lineno  # neighbouring strings are nested as well
        if depth > _DEEPEST:
            return True
        nodes.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return False
