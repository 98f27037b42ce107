"""Awkward layouts of a program: every change here leaves the syntax tree as it is and makes the text harder to edit."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st

COMMENTS = (
    "# plain",
    "#no space, 'quote\" (bracket",
    "# größe 😀 done",
    "# line\u2028separator \x0c and \x85 that are no line ends",
    "# type: ignore[attr-defined]",
    "# if x: loss.item(); torch.cuda.synchronize()",
    "#",
    "# back\\slash \\",
    "#: tab\there",
)

COMPOUND = frozenset((
    "if", "elif", "else", "for", "while", "with", "try", "except", "finally", "match", "case",
    "def", "async", "class", "@",
))  # fmt: skip

Option = TypeVar("Option")


class Token(NamedTuple):
    """One token of code; comments and layout tokens are left out."""

    text: str
    start: int
    end: int
    depth: int
    """How many brackets are open after it."""


class LogicalLine(NamedTuple):
    """The tokens between two ends of statement lines."""

    tokens: tuple[Token, ...]
    indentation: str
    end: int
    """Offset of its newline."""
    commented: bool
    """Whether a comment stands on its last row."""

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def row_start(self) -> int:
        return self.start - len(self.indentation)

    @property
    def depth(self) -> int:
        # A form feed starts the count of columns again.
        return len(self.indentation.rpartition("\x0c")[2])

    @property
    def code_end(self) -> int:
        return self.tokens[-1].end

    @property
    def simple(self) -> bool:
        """Whether other simple statements may share its line."""
        return self.tokens[0].text not in COMPOUND

    @property
    def opens_block(self) -> bool:
        return not self.simple and self.tokens[-1].text == ":"

    @property
    def gaps(self) -> Iterator[tuple[int, int]]:
        """Offset and bracket depth of each place between two tokens where white space may stand."""
        for token, after in pairwise(self.tokens):
            if token.depth >= 0 and after.depth >= 0:
                yield token.end, token.depth


def logical_lines(text: str) -> list[LogicalLine]:
    """The logical lines of a program whose newlines are ``\\n``."""
    starts = [0]
    for row in text.split("\n"):
        starts.append(starts[-1] + len(row) + 1)
    lines: list[LogicalLine] = []
    tokens: list[Token] = []
    depth = 0
    literal = 0
    commented = False
    for token in tokenize.generate_tokens(io.StringIO(text, newline="\n").readline):
        start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        name = tokenize.tok_name[token.type]
        if name == "NEWLINE":
            row_start = text.rindex("\n", 0, tokens[0].start) + 1 if "\n" in text[: tokens[0].start] else 0
            lines.append(LogicalLine(tuple(tokens), text[row_start : tokens[0].start], start, commented))
            tokens = []
        if name == "COMMENT":
            commented = True
        elif name in ("NL", "NEWLINE"):
            commented = False
        elif name not in ("INDENT", "DEDENT", "ENDMARKER"):
            literal += name in ("FSTRING_START", "TSTRING_START")
            if name == "OP" and not literal:
                depth += token.string in "([{"
                depth -= token.string in ")]}"
            # Inside an f-string (tokens of their own since Python 3.12) nothing may be inserted.
            tokens.append(Token(token.string, start, end, -1 if literal else depth))
            literal -= name in ("FSTRING_END", "TSTRING_END")
    return lines


def inserted(text: str, offset: int, addition: str) -> str:
    return text[:offset] + addition + text[offset:]


def nth(options: Iterable[Option], where: int) -> Option | None:
    """One of the options, whatever their number; None if there are none."""
    found = list(options)
    return found[where % len(found)] if found else None


def trailing_comment(text: str, where: int, comment: str) -> str:
    line = nth((line for line in logical_lines(text) if not line.commented), where)
    return inserted(text, line.end, f"  {comment}") if line else text


def comment_above(text: str, where: int, comment: str) -> str:
    """A comment on a row of its own, at the depth of the line below, deeper, or at the margin."""
    line = nth(logical_lines(text), where)
    if line is None:
        return text
    indentation = (line.indentation, line.indentation + "  ", "")[where % 3]
    return inserted(text, line.row_start, f"{indentation}{comment}\n")


def comment_in_brackets(text: str, where: int, comment: str) -> str:
    gap = nth((end for line in logical_lines(text) for end, depth in line.gaps if depth > 0), where)
    return text if gap is None else inserted(text, gap, f"  {comment}\n" + "    " * (where % 3))


def white_space(text: str, where: int, comment: str) -> str:
    gap = nth((gap for line in logical_lines(text) for gap in line.gaps), where)
    if gap is None:
        return text
    spaces = ("\n        ", "   ", "\n", " \\\n  ") if gap[1] > 0 else (" \\\n        ", "   ", "\t", "\\\n")
    return inserted(text, gap[0], spaces[where % len(spaces)])


def joined_lines(text: str, where: int, comment: str) -> str:
    lines = logical_lines(text)
    pair = nth(
        (
            (one, two)
            for one, two in pairwise(lines)
            if one.simple and two.simple and text[one.code_end : two.start] == "\n" + two.indentation
            if one.indentation == two.indentation and one.tokens[-1].text != ";"
        ),
        where,
    )
    if pair is None:
        return text
    return text[: pair[0].code_end] + ("; ", ";", " ;  ")[where % 3] + text[pair[1].start :]


def final_semicolon(text: str, where: int, comment: str) -> str:
    lines = (one for one in logical_lines(text) if one.tokens[0].text != "@" and one.tokens[-1].text not in (":", ";"))
    line = nth(lines, where)
    return inserted(text, line.code_end, ";") if line else text


def one_line_block(text: str, where: int, comment: str) -> str:
    """``if x:`` and its body of simple statements on one line."""
    lines = logical_lines(text)
    blocks = []
    for at, header in enumerate(lines):
        after = (at for at in range(at + 1, len(lines)) if lines[at].depth <= header.depth)
        body = lines[at + 1 : next(after, len(lines))]
        plain = (
            line.simple
            and line.tokens[-1].text != ";"
            and text[before.code_end : line.start] == "\n" + line.indentation
            for before, line in pairwise([header, *body])
        )
        if header.opens_block and all(plain):
            blocks.append((header, body))
    block = nth(blocks, where)
    if block is None:
        return text
    header, body = block
    inline = "; ".join(text[line.start : line.code_end] for line in body)
    return text[: header.code_end] + " " + inline + text[body[-1].code_end :]


def parentheses(text: str, where: int, comment: str) -> str:
    """Parentheses around an expression that needs none."""
    rows = text.split("\n")
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)

    def offset(row: int, column: int) -> int:
        return starts[row - 1] + len(rows[row - 1].encode()[:column].decode())

    tree = ast.parse(text)
    literal = {id(node) for string in ast.walk(tree) if isinstance(string, ast.JoinedStr) for node in ast.walk(string)}
    node = nth(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            or (isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load))
            if id(node) not in literal
        ),
        where,
    )
    if node is None or node.end_lineno is None or node.end_col_offset is None:
        return text
    start, end = offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)
    return f"{text[:start]}({text[start:end]}){text[end:]}"


def form_feed(text: str, where: int, comment: str) -> str:
    line = nth(logical_lines(text), where)
    return inserted(text, line.row_start, ("\x0c", "\x0c\n")[where % 2]) if line else text


def blank_row(text: str, where: int, comment: str) -> str:
    line = nth(logical_lines(text), where)
    return inserted(text, line.row_start, ("\n", "  \t\n", "\n\n\n")[where % 3]) if line else text


CHANGES: tuple[Callable[[str, int, str], str], ...] = (
    trailing_comment,
    comment_above,
    comment_in_brackets,
    white_space,
    joined_lines,
    final_semicolon,
    one_line_block,
    parentheses,
    form_feed,
    blank_row,
)

ENDS: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: text.rstrip("\n"),
    lambda text: text + "\n\n",
    lambda text: text + "# the end, without a newline",
    lambda text: text.rstrip("\n") + "  # the end",
)

NEWLINES: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: text,
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("\n", "\r"),
    lambda text: text.replace("\n", "\r\n", text.count("\n") // 2),
)


@st.composite
def laid_out(draw: st.DrawFn, text: str) -> str:
    """The same program in a layout that only an awkward person would write."""
    changes = st.tuples(st.sampled_from(CHANGES), st.integers(0, 999), st.sampled_from(COMMENTS))
    for change, where, comment in draw(st.lists(changes, max_size=8)):
        text = change(text, where, comment)
    return draw(st.sampled_from(NEWLINES))(draw(st.sampled_from(ENDS))(text))


@st.composite
def encoded(draw: st.DrawFn, text: str) -> bytes:
    """The text as a file holds it: UTF-8, with a byte order mark, or in another encoding that a cookie declares."""
    match draw(st.sampled_from(("utf-8", "utf-8", "utf-8-sig", "latin-1"))):
        case "latin-1" if text.isascii() or (text.encode("latin-1", "replace").decode("latin-1") == text):
            return b"# coding: latin-1\n" + text.encode("latin-1") if "coding:" not in text else text.encode()
        case "utf-8-sig":
            return text.encode("utf-8-sig")
    return text.encode()
