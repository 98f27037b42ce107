"""A notebook's file: where the code of its cells stands in the JSON, and how other code is put in its place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from json import JSONDecodeError

from tpulint.notebooks.json_text import Cursor, Spelling, pieces
from tpulint.records import NamedTuple
from tpulint.source import UnreadableSource

_OLDEST, _NEWEST = 3, 4
"""Versions of the format whose cells are known."""
_PYTHONS = ("python", "ipython", "pyspark", "xpython", "pypy")


class NotANotebook(UnreadableSource):
    """The text is not a notebook that can be read; the message says why."""


class CodeCell(NamedTuple):
    """One cell of code."""

    number: int
    """Among all cells, from 1."""
    text: str
    start: int
    """Offset in the file's text of the JSON value that holds the code."""
    end: int
    is_python: bool


class _Found:
    """What is gathered about a cell while its members are read, in whatever order they come."""

    __slots__ = ("is_code", "language", "source")

    def __init__(self) -> None:
        self.is_code = False
        self.language = ""
        self.source: tuple[object, int, int] = ("", 0, 0)


class Document:
    """The text of a notebook's file."""

    __slots__ = ("_rows", "cells", "text")

    def __init__(self, text: str, cells: tuple[CodeCell, ...]) -> None:
        self.text = text
        self.cells = cells
        """Its cells of code; none when its kernel does not run Python."""
        self._rows: list[int] | None = None

    @classmethod
    def read(cls, text: str) -> Document:
        """Find the cells of a notebook. Raises ``NotANotebook``."""
        try:
            return cls(text, _cells(text))
        except JSONDecodeError as error:
            raise NotANotebook(f"not valid JSON: {error.msg} in column {error.colno}", error.lineno) from None
        except ValueError:  # more digits than Python reads
            raise NotANotebook("not JSON that can be read: one of its numbers is too long") from None
        except RecursionError:
            raise NotANotebook("its JSON is nested too deeply") from None

    def with_code(self, texts: Sequence[str]) -> str:
        """The text of the file where the cells hold other code; all else is as it was."""
        parts: list[str] = []
        at = 0
        spelling: Spelling | None = None
        for cell, code in zip(self.cells, texts, strict=True):
            if code == cell.text:
                continue
            spelling = spelling or Spelling(self.text)
            parts += (self.text[at : cell.start], _written(self.text[cell.start : cell.end], code, spelling))
            at = cell.end
        return "".join([*parts, self.text[at:]])

    def rows(self, cell: CodeCell) -> Iterator[int]:
        """The row of the file that holds each line of a cell."""
        first = self._row(cell.start)
        if self.text[cell.start] != "[":
            while True:
                yield first
        cursor = Cursor(self.text, cell.start)
        begins_line = True
        for _ in cursor.items():
            value, start, _ = cursor.spanned()
            first = self._row(start)
            for line in str(value).splitlines(keepends=True):
                if begins_line:
                    yield first
                begins_line = line.endswith(("\n", "\r"))
        while True:
            yield first

    def _row(self, offset: int) -> int:
        if self._rows is None:
            self._rows = [number for number, char in enumerate(self.text) if char == "\n"]
        return bisect_right(self._rows, offset - 1) + 1


def _cells(text: str) -> tuple[CodeCell, ...]:
    cursor = Cursor(text)
    if not cursor.sees("{"):
        cursor.value()
        raise NotANotebook("not a notebook: its JSON is no object")
    version: object = None
    metadata: object = None
    cells: list[_Found] = []
    in_sheets: list[_Found] = []
    for key in cursor.members():
        if key == "nbformat":
            version = cursor.value()
        elif key == "metadata":
            metadata = cursor.value()
        elif key == "cells" and cursor.sees("["):
            cells = [_cell(cursor) for _ in cursor.items()]
        elif key == "worksheets" and cursor.sees("["):
            in_sheets = [cell for _ in cursor.items() for cell in _of_sheet(cursor)]
        else:
            cursor.value()
    cursor.end()
    if not isinstance(version, int):
        raise NotANotebook("not a notebook: it does not say which nbformat it has")
    if not _OLDEST <= version <= _NEWEST:
        what = "older" if version < _OLDEST else "newer"
        cure = "; `jupyter nbconvert --to notebook` converts it" if version < _OLDEST else ""
        raise NotANotebook(f"nbformat {version} is {what} than tpulint knows ({_OLDEST} and {_NEWEST}){cure}")
    if not _runs_python(metadata):
        return ()
    found = cells if version >= 4 else in_sheets
    return tuple(_code(number, cell) for number, cell in enumerate(found, 1) if cell.is_code and cell.source[2])


def _of_sheet(cursor: Cursor) -> list[_Found]:
    found: list[_Found] = []
    if not cursor.sees("{"):
        cursor.value()
        return found
    for key in cursor.members():
        if key == "cells" and cursor.sees("["):
            found = [_cell(cursor) for _ in cursor.items()]
        else:
            cursor.value()
    return found


def _cell(cursor: Cursor) -> _Found:
    found = _Found()
    if not cursor.sees("{"):
        cursor.value()
        return found
    for key in cursor.members():
        if key in ("source", "input"):  # the latter up to nbformat 3
            found.source = cursor.spanned()
        elif key == "cell_type":
            found.is_code = cursor.value() == "code"
        elif key == "language":
            found.language = str(cursor.value())
        elif key == "metadata":
            found.language = _language_in_editor(cursor.value()) or found.language
        else:
            cursor.value()
    return found


def _language_in_editor(metadata: object) -> str:
    """The language that VS Code was told a cell is in."""
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    return str(editor.get("languageId") or "") if isinstance(editor, dict) else ""


def _code(number: int, cell: _Found) -> CodeCell:
    value, start, end = cell.source
    lines = value if isinstance(value, list) else [value]
    texts = [line for line in lines if isinstance(line, str)]
    if len(texts) < len(lines):
        raise NotANotebook(f"not a notebook: the code of cell {number} is no text")
    return CodeCell(number, "".join(texts), start, end, _is_python(cell.language))


def _runs_python(metadata: object) -> bool:
    """Whether the kernel of a notebook runs Python; so does one that is not told of."""
    if not isinstance(metadata, dict):
        return True
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        told = metadata.get(key)
        if isinstance(told, dict) and isinstance(told.get(name), str):
            return _is_python(told[name])
    return True


def _is_python(language: str) -> bool:
    return not language or language.lower().startswith(_PYTHONS)


def _written(old: str, code: str, spelling: Spelling) -> str:
    """The JSON value for some code, in the form of the one it replaces: a list of lines, or one string.

    Lines that were there already are written as they were.
    """
    if not old.startswith("["):
        known = pieces(old[1:-1])
        lines = code.splitlines(keepends=True)
        return '"' + "".join(known.get(line) or spelling.write(line) for line in lines) + '"'
    cursor = Cursor(old)
    known = {}
    ends: list[int] = []
    starts: list[int] = []
    for _ in cursor.items():
        value, start, end = cursor.spanned()
        starts.append(start)
        ends.append(end)
        known[str(value)] = old[start:end]
    lines = code.splitlines(keepends=True)
    if not lines or not starts:
        return "[" + ", ".join(f'"{spelling.write(line)}"' for line in lines) + "]"
    opening, closing = old[: starts[0]], old[ends[-1] :]
    between = old[ends[0] : starts[1]] if len(starts) > 1 else "," + (opening[1:] or " ")
    return opening + between.join(known.get(line) or f'"{spelling.write(line)}"' for line in lines) + closing
