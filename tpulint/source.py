"""Bytes to text and back: encoding, byte order mark, newlines, positions."""

from __future__ import annotations

import ast
import codecs
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

from tpulint.languages import CONFIGURATION, PYTHON, is_notebook, language_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.model import Edit, Span
    from tpulint.old_keywords import Readable

_NEWLINE = r"\r\n|\r|\n"
_COOKIE = rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
_BLANK_OR_COMMENT = rb"^[ \t\f]*(?:#.*)?$"
_BOTH_GIVEN = r"\w\((?=[^()]{0,200}loss)[^()]{0,200}optim"


class UnreadableSource(Exception):
    """The bytes are not Python source text: wrong encoding, unknown cookie, NUL bytes."""

    def __init__(self, message: str, row: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row


class InvalidSyntax(Exception):
    """The text is not Python; ``error`` says where and why."""

    def __init__(self, error: SyntaxError) -> None:
        super().__init__(error.msg)
        self.error = error


def told_syntax(error: SyntaxError) -> str:
    """What is told of text that is not Python, or that only a newer one reads than the Python that runs."""
    return f"not valid Python {sys.version_info.major}.{sys.version_info.minor}: {error.msg}"


class SourceFile:
    """The text of one file, as Python reads it, with what is needed to give back the same bytes.

    ``text`` keeps the original newlines, so an edit changes the bytes of its own span and nothing else.
    """

    __slots__ = ("_has_any", "_line_starts", "_read_as", "bom", "encoding", "newline", "path", "text")

    cell_starts: Sequence[int] = ()
    """Offsets where the cells of a notebook begin; none for other files."""
    other_words: frozenset[str] = frozenset()
    """Names that are used by what stands in the file beside Python: magics."""

    def __init__(self, text: str, path: str, encoding: str = "utf-8", bom: bool = False, newline: str = "") -> None:
        self.text = text
        self.path = path
        self.encoding = encoding
        self.bom = bom
        self.newline = newline or _dominant_newline(text)
        self._line_starts: list[int] | None = None
        self._read_as: Readable | None = None
        self._has_any: dict[tuple[str, ...], bool] = {}

    @classmethod
    def from_bytes(cls, data: bytes, path: str) -> SourceFile:
        """Decode as Python does (PEP 263). Raises ``UnreadableSource`` with one clear sentence."""
        if language_of(path) != PYTHON:
            return cls._from_text_file(data, path)
        if is_notebook(path):
            from tpulint.notebooks.source import read_notebook

            return read_notebook(data, path)
        bom = data.startswith(codecs.BOM_UTF8)
        if bom:
            data = data[len(codecs.BOM_UTF8) :]
        encoding = _declared_encoding(data, bom)
        if b"\0" in data:
            row = data.count(b"\n", 0, data.index(b"\0")) + 1
            raise UnreadableSource("file contains NUL bytes: not Python source text", row)
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            row = data.count(b"\n", 0, error.start) + 1
            raise UnreadableSource(
                f"byte 0x{data[error.start]:02x} is not valid {encoding}; declare the encoding in the first line "
                "(# -*- coding: latin-1 -*-) or save the file as UTF-8",
                row,
            ) from None
        except (UnicodeError, LookupError) as error:
            raise UnreadableSource(f"not {encoding} text: {error}") from None
        source = cls(text, path, encoding, bom)
        try:
            same = source.render(text) == (codecs.BOM_UTF8 + data if bom else data)
        except UnicodeError:
            same = False
        if not same:
            raise UnreadableSource(f"text in {encoding} cannot be written back byte for byte")
        return source

    @classmethod
    def _from_text_file(cls, data: bytes, path: str) -> SourceFile:
        """Decode a file that declares no encoding. What is looked for in it is ASCII: any 8-bit encoding will do."""
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # as PowerShell writes it, and pip reads it
            encoding = "utf-16-le" if data.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
            try:
                return cls(data.decode(encoding), path, encoding)  # the mark stays in the text
            except UnicodeDecodeError:
                raise UnreadableSource(f"not {encoding} text, though its byte order mark says so") from None
        if b"\0" in data and language_of(path) != CONFIGURATION:  # what is encrypted keeps its name
            row = data.count(b"\n", 0, data.index(b"\0")) + 1
            raise UnreadableSource("file contains NUL bytes: not a text file", row)
        bom = data.startswith(codecs.BOM_UTF8)
        try:
            return cls(data[len(codecs.BOM_UTF8) if bom else 0 :].decode(), path, "utf-8", bom)
        except UnicodeDecodeError:
            return cls(data.decode("latin-1"), path, "latin-1")

    @classmethod
    def from_text(cls, text: str, path: str = "<text>") -> SourceFile:
        """A file that exists only as text, such as an editor's buffer."""
        return cls(text, path)

    def with_text(self, text: str, cell_starts: Sequence[int] = ()) -> SourceFile:
        """The same file with another text; its newline stays, whatever the edits did to the majority.

        ``cell_starts`` tell where the cells of a notebook begin in it.
        """
        return SourceFile(text, self.path, self.encoding, self.bom, self.newline)

    def with_edits(self, edits: Sequence[Edit], first: Edit | None = None) -> SourceFile:
        """The same file with these edits, as ``apply_edits`` makes them."""
        from tpulint.fixer import apply_edits

        return self.with_text(apply_edits(self.text, edits, first))

    def render(self, text: str) -> bytes:
        """The bytes that hold ``text`` in this file's encoding.

        Raises ``UnicodeEncodeError`` when the encoding cannot express it.
        """
        data = text.encode(self.encoding)
        return codecs.BOM_UTF8 + data if self.bom else data

    def to_bytes(self) -> bytes:
        """The bytes of the file. Raises ``UnicodeEncodeError`` when its encoding cannot express the text."""
        return self.render(self.text)

    @property
    def code(self) -> str:
        """The text as Python reads it, equal in length: without the magics of a notebook."""
        return self.text if self._read_as is None else self._read_as.code

    @property
    def old_keywords(self) -> tuple[Span, ...]:
        """Names of arguments that Python reads no more, ``async=True``; the tree has others in their place."""
        return () if self._read_as is None else self._read_as.places

    def parse(self) -> ast.Module:
        """The tree of the code. Raises what ``ast.parse`` does."""
        try:
            return ast.parse(self.code)
        except SyntaxError:
            if self._read_as is not None or "async" not in self.text:
                raise
            from tpulint.old_keywords import readable

            self._read_as = readable(self.text)
            if self._read_as is None:
                raise
            return self.parse()

    def cell_rows(self, row: int) -> tuple[int, int]:
        """First and last row of the cell that holds a row; of the file, where there are no cells."""
        return 1, self.row_count

    @property
    def rows_of_others(self) -> Iterable[int]:
        """Rows that hold something else than Python: magics of a notebook."""
        return ()

    def cell_number(self, row: int) -> int:
        """The number of the cell that holds a row, from 1; 0 where there are no cells."""
        return 0

    def first_row_of(self, cell: int) -> int:
        """The row of the text at which a cell of that number begins; of the file, where there are no cells."""
        return 1

    @property
    def is_marimo(self) -> bool:
        """Whether it is a notebook of marimo, whose cells do not know what is imported in front of them."""
        return self.has_any(("@app.cell",)) and self.has_any(("import marimo",))

    def has_any(self, words: tuple[str, ...]) -> bool:
        """Whether one of the words stands anywhere in the text. It is looked once, however many ask."""
        found = self._has_any.get(words)
        if found is None:
            text = self.text
            # Looking for one word after the other is several times as fast as a search for any of them.
            found = self._has_any[words] = any(word in text for word in words)
        return found

    @property
    def line_starts(self) -> list[int]:
        """Offset of the first code point of every line; lines end where Python's tokenizer ends them."""
        starts = self._line_starts
        if starts is None:
            starts = [0]
            if "\r" in self.text:
                starts.extend(match.end() for match in re.finditer(_NEWLINE, self.text))
            else:
                lengths = [len(line) + 1 for line in self.text.split("\n")]
                starts.extend(accumulate(lengths[:-1]))
            self._line_starts = starts
        return starts

    @property
    def row_count(self) -> int:
        """Number of lines; the empty one after a final newline counts."""
        return len(self.line_starts)

    def line(self, row: int) -> str:
        """Text of a line (1-based) without its newline."""
        starts = self.line_starts
        start = starts[row - 1]
        end = starts[row] if row < len(starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def row(self, offset: int) -> int:
        """Line (1-based) that holds the offset."""
        return bisect_right(self.line_starts, offset)

    def line_start(self, offset: int) -> int:
        """Offset at which the line that holds the offset begins."""
        return self.line_starts[self.row(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Offset of the newline that ends the line of the offset; the length of the text for the last one."""
        row = self.row(offset)
        return self.line_starts[row - 1] + len(self.line(row))

    def past_newline(self, offset: int) -> int:
        """Offset behind the newline at the offset; the same where none stands there."""
        if self.text.startswith("\r\n", offset):
            return offset + 2
        return offset + (self.text[offset : offset + 1] in ("\n", "\r"))

    def position(self, offset: int) -> tuple[int, int]:
        """Row and column of an offset, both 1-based, columns in code points."""
        starts = self.line_starts
        row = bisect_right(starts, offset)
        return row, offset - starts[row - 1] + 1

    def offset(self, row: int, column: int) -> int:
        """Offset of a row and column, both 1-based."""
        return self.line_starts[row - 1] + column - 1

    def byte_offset(self, row: int, byte_column: int) -> int:
        """Offset of a position as ``ast`` gives it: 1-based line, 0-based column in UTF-8 bytes."""
        starts = self.line_starts
        start = starts[row - 1]
        end = start + byte_column
        head = self.text[start:end]
        if head.isascii():
            return end
        return start + len(head.encode()[:byte_column].decode(errors="ignore"))


def _declared_encoding(data: bytes, bom: bool) -> str:
    first_lines = b"\n".join(data.split(b"\n", 2)[:2])
    if b"coding" not in first_lines:
        return "utf-8"
    for row, raw in enumerate(first_lines.splitlines()[:2], 1):
        match = re.match(_COOKIE, raw)
        if match:
            name = match.group(1).decode("ascii", "replace")
            try:
                codec = codecs.lookup(name)
                "".encode(codec.name)
            except (LookupError, ValueError):
                raise UnreadableSource(f"unknown encoding in the coding comment: {name}", row) from None
            if bom and codec.name != "utf-8":
                raise UnreadableSource(f"byte order mark says utf-8, the coding comment says {name}", row)
            return "utf-8" if codec.name in ("utf-8", "utf-8-sig") else codec.name
        if not re.match(_BLANK_OR_COMMENT, raw):
            break
    return "utf-8"


def _dominant_newline(text: str) -> str:
    if "\r" not in text:
        return "\n"
    windows = text.count("\r\n")
    unix = text.count("\n") - windows
    classic = text.count("\r") - windows
    if windows >= unix and windows >= classic:
        return "\r\n"
    return "\n" if unix >= classic else "\r"


@lru_cache(maxsize=4)
def trains_by_imports(text: str) -> bool:
    """Whether a text may train by what it imports: in a file without a word of a backward pass.

    It empties the gradients and updates, or a call is given a loss with an optimizer, by their names:
    ``update_params(self.optim, loss)``.
    """
    # Most files have one of the words only, and are not searched.
    if "optim" not in text:
        return False
    updates = ".zero_grad(" in text and (".step(" in text or "optimizer_step(" in text)
    return updates or ("loss" in text and re.search(_BOTH_GIVEN, text) is not None)
