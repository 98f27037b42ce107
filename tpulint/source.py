"""Bytes to text and back: encoding, byte order mark, newlines, positions."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right

_NEWLINE = re.compile(r"\r\n|\r|\n")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"^[ \t\f]*(?:#.*)?$")


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


class SourceFile:
    """The text of one file, as Python reads it, with what is needed to give back the same bytes.

    ``text`` keeps the original newlines, so an edit changes the bytes of its own span and nothing else.
    """

    __slots__ = ("_line_starts", "bom", "encoding", "newline", "path", "text")

    def __init__(self, text: str, path: str, encoding: str = "utf-8", bom: bool = False, newline: str = "") -> None:
        self.text = text
        self.path = path
        self.encoding = encoding
        self.bom = bom
        self.newline = newline or _dominant_newline(text)
        self._line_starts: list[int] | None = None

    @classmethod
    def from_bytes(cls, data: bytes, path: str) -> SourceFile:
        """Decode as Python does (PEP 263). Raises ``UnreadableSource`` with one clear sentence."""
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
    def from_text(cls, text: str, path: str = "<text>") -> SourceFile:
        """A file that exists only as text, such as an editor's buffer."""
        return cls(text, path)

    def with_text(self, text: str) -> SourceFile:
        """The same file with another text; its newline stays, whatever the edits did to the majority."""
        return SourceFile(text, self.path, self.encoding, self.bom, self.newline)

    def render(self, text: str) -> bytes:
        """The bytes that hold ``text`` in this file's encoding.

        Raises ``UnicodeEncodeError`` when the encoding cannot express it.
        """
        data = text.encode(self.encoding)
        return codecs.BOM_UTF8 + data if self.bom else data

    @property
    def line_starts(self) -> list[int]:
        """Offset of the first code point of every line; lines end where Python's tokenizer ends them."""
        starts = self._line_starts
        if starts is None:
            starts = [0]
            starts.extend(match.end() for match in _NEWLINE.finditer(self.text))
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
    for row, raw in enumerate(data.splitlines()[:2], 1):
        match = _COOKIE.match(raw)
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
        if not _BLANK_OR_COMMENT.match(raw):
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
