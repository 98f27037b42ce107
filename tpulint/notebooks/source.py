"""A notebook as one Python program: the code of its cells, one below the other."""

from __future__ import annotations

import ast
import codecs
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice

from tpulint.model import Edit, Span
from tpulint.notebooks.document import CodeCell, Document, NotANotebook
from tpulint.notebooks.magics import Masked, blank, mask
from tpulint.records import NamedTuple
from tpulint.source import SourceFile, told_syntax


class BrokenCell(NamedTuple):
    """A cell that Python cannot read."""

    offset: int
    """Where in the notebook's text."""
    message: str


class NotebookSource(SourceFile):
    """``text`` is the code of all cells with a newline behind each, magics included.

    Python reads ``code`` in its place, where blanks stand for what is not Python. An edit of the text is an edit of
    one cell: what stands in the file beside the code of changed cells stays byte for byte.
    """

    __slots__ = (
        "_broken", "_code", "_document", "_first_rows", "_masked", "_must_parse", "cell_starts", "other_words", "texts"
    )  # fmt: skip

    def __init__(
        self, document: Document, texts: Sequence[str], path: str, bom: bool = False, newline: str = ""
    ) -> None:
        super().__init__("".join(f"{text}\n" for text in texts), path, "utf-8", bom, newline)
        self.texts = texts
        """The code of each cell."""
        self._document = document
        starts, at = [], 0
        for text in texts:
            starts.append(at)
            at += len(text) + 1
        self.cell_starts: Sequence[int] = starts
        self._first_rows: list[int] | None = None
        self._masked: list[Masked] = []
        self._code: str | None = None
        self._broken: list[BrokenCell] = []
        self._must_parse = False
        self.other_words: frozenset[str] = frozenset()

    # ---------------------------------------------------------------- text

    def with_text(self, text: str, cell_starts: Sequence[int] = ()) -> SourceFile:
        """The same notebook with other code in its cells."""
        starts = cell_starts or self.cell_starts
        bounds = zip(starts, [*starts[1:], len(text)], strict=True)
        texts = [text[start:end].removesuffix("\n") for start, end in bounds]
        return NotebookSource(self._document, texts, self.path, self.bom, self.newline)

    def with_edits(self, edits: Sequence[Edit], first: Edit | None = None) -> SourceFile:
        """The same notebook with these edits, none of which may cross the border of a cell."""
        from tpulint.fixer import apply_edits

        by_cell: dict[int, list[Edit]] = {}
        for edit in edits:
            cell = bisect_right(self.cell_starts, edit.span.start) - 1
            start, end = self.bounds(cell)
            if edit.span.end > end:
                raise ValueError("an edit crosses the border of a cell")
            moved = edit._replace(span=Span(edit.span.start - start, edit.span.end - start))
            by_cell.setdefault(cell, []).append(moved)
            first = moved if edit is first else first
        texts = list(self.texts)
        for cell, inside in by_cell.items():
            start, end = self.bounds(cell)
            texts[cell] = apply_edits(self.text[start:end], inside, first).removesuffix("\n")
        changed = NotebookSource(self._document, texts, self.path, self.bom, self.newline)
        changed._must_parse = self._code is not None and not self._broken
        return changed

    def bounds(self, cell: int) -> tuple[int, int]:
        """Offsets between which a cell stands, with the newline behind it."""
        starts = self.cell_starts
        return starts[cell], starts[cell + 1] if cell + 1 < len(starts) else len(self.text)

    def render(self, text: str) -> bytes:
        """The bytes of the file; it holds the cells as they are."""
        assert text is self.text
        return self.to_bytes()

    def to_bytes(self) -> bytes:
        """The bytes of the file."""
        data = self._document.with_code(self.texts).encode()
        return codecs.BOM_UTF8 + data if self.bom else data

    # ---------------------------------------------------------------- Python

    @property
    def code(self) -> str:
        """The text as Python reads it."""
        if self._code is None:
            self._settle()
        assert self._code is not None
        return self._code

    @property
    def broken(self) -> Sequence[BrokenCell]:
        """Cells that Python cannot read; ``code`` leaves them out."""
        return self._broken if self.code is not None else ()

    def parse(self) -> ast.Module:
        """The tree of all cells that Python can read.

        Raises ``SyntaxError`` where edits broke a cell of a notebook that could be read whole.
        """
        return (self._settle() if self._code is None else None) or ast.parse(self.code)

    def _settle(self) -> ast.Module | None:
        """Find out what Python reads; the tree, when it reads all of it at once."""
        cells = self._document.cells
        self._masked = [mask(text, is_python=cell.is_python) for cell, text in zip(cells, self.texts, strict=True)]
        try:
            tree = ast.parse("".join(f"{one.code}\n" for one in self._masked))
        except (SyntaxError, ValueError):
            tree = None
        if tree is None or self._has_statement_across(tree):
            tree = None
            for number in range(len(cells)):
                self._settle_cell(number)
        self._code = "".join(f"{one.code}\n" for one in self._masked)
        self.other_words = frozenset().union(*(one.words for one in self._masked))
        return tree

    def _settle_cell(self, number: int) -> None:
        error = _error_in(self._masked[number].code)
        if error is None:
            return
        text = self.texts[number]
        again = mask(text, is_strict=False)
        if _error_in(again.code) is None:
            self._masked[number] = again
            return
        if self._must_parse:
            raise error
        self._masked[number] = mask(text, is_python=False)
        lines = SourceFile.from_text(text)
        row = min(max(error.lineno or 1, 1), lines.row_count)
        column = min(max(error.offset or 1, 1), len(lines.line(row)) + 1)
        offset = self.cell_starts[number] + lines.offset(row, column)
        self._broken.append(BrokenCell(offset, told_syntax(error)))

    def _has_statement_across(self, tree: ast.Module) -> bool:
        """Whether a statement begins in one cell and ends in another: together they are Python, each alone is not."""
        for statement in tree.body:
            decorators = getattr(statement, "decorator_list", ())
            first = min([statement.lineno, *(one.lineno for one in decorators)])
            if (statement.end_lineno or first) > self.cell_rows(first)[1]:
                return True
        return False

    # ---------------------------------------------------------------- what is not Python

    @property
    def magics(self) -> list[Span]:
        """What stands in the cells and is not Python."""
        self._need_masks()
        return [self._shifted(span, start) for one, start in self._pairs() for span in one.magics]

    @property
    def shell_stretches(self) -> list[Span]:
        """Where text for a shell stands, each stretch run on its own."""
        self._need_masks()
        return [self._shifted(span, start) for one, start in self._pairs() for span in one.stretches]

    @property
    def shell_text(self) -> str:
        """The text with blanks for what no shell reads."""
        self._need_masks()
        pairs = zip(self._masked, self.texts, strict=True)
        return "".join(f"{one.shell or blank(text)}\n" for one, text in pairs)

    def _need_masks(self) -> None:
        assert self.code is not None

    def _pairs(self) -> list[tuple[Masked, int]]:
        return list(zip(self._masked, self.cell_starts, strict=True))

    @staticmethod
    def _shifted(span: Span, by: int) -> Span:
        return Span(span.start + by, span.end + by)

    # ---------------------------------------------------------------- places

    def cell_rows(self, row: int) -> tuple[int, int]:
        """First and last row of the cell that holds a row."""
        number = self._cell_at(row)
        first = self._rows[number]
        return first, self._rows[number + 1] - 1 if number + 1 < len(self._rows) else max(first, self.row_count - 1)

    @property
    def rows_of_others(self) -> Iterable[int]:
        """Rows that magics stand in."""
        return {row for span in self.magics for row in range(self.row(span.start), self.row(span.end) + 1)}

    def first_row_of(self, cell: int) -> int:
        """The row of the text at which a cell of that number begins."""
        numbers = [one.number for one in self._document.cells]
        return self._rows[numbers.index(cell)]

    def cell_number(self, row: int) -> int:
        """The number of the cell that holds a row, among all cells of the notebook, from 1."""
        cells = self._document.cells
        return cells[self._cell_at(row)].number if cells else 0

    def file_row(self, row: int) -> int:
        """The row of the file's JSON that holds a row of the code."""
        cells = self._document.cells
        if not cells:
            return 1
        if any(cell.text != text for cell, text in zip(cells, self.texts, strict=True)):
            self._document = Document.read(self._document.with_code(self.texts))
            self.texts = [cell.text for cell in self._document.cells]
        cell: CodeCell = self._document.cells[self._cell_at(row)]
        return next(islice(self._document.rows(cell), row - self.cell_rows(row)[0], None))

    @property
    def _rows(self) -> list[int]:
        """The first row of each cell."""
        if self._first_rows is None:
            self._first_rows = [self.row(start) for start in self.cell_starts] or [1]
        return self._first_rows

    def _cell_at(self, row: int) -> int:
        return max(0, bisect_right(self._rows, row) - 1)


def read_notebook(data: bytes, path: str) -> NotebookSource:
    """Read a notebook. Raises ``NotANotebook``."""
    bom = data.startswith(codecs.BOM_UTF8)
    if bom:
        data = data[len(codecs.BOM_UTF8) :]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise NotANotebook(f"byte 0x{data[error.start]:02x} is not valid UTF-8, which notebooks are in", row) from None
    document = Document.read(text)
    return NotebookSource(document, [cell.text for cell in document.cells], path, bom)


def _error_in(code: str) -> SyntaxError | None:
    try:
        ast.parse(code)
    except SyntaxError as error:
        return error
    except ValueError as error:  # a lone half of a surrogate pair
        return SyntaxError(str(error))
    return None
