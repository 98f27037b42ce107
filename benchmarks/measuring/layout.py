"""How the rows of a file belong together: statements, functions, loops."""

from __future__ import annotations

import ast
from contextlib import suppress
from pathlib import Path

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Layout:
    """The rows of one file."""

    def __init__(self, text: str) -> None:
        self._statements: dict[int, int] = {}
        self._loops: dict[int, tuple[int, ...]] = {}
        self._lines = text.splitlines()
        with suppress(SyntaxError, ValueError):
            self._walk(ast.parse(text), ())

    def statement(self, row: int) -> int:
        """The first row of the innermost statement on a row; of a compound statement only the head counts."""
        return self._statements.get(row, row)

    def line(self, row: int) -> str:
        """The text of a row."""
        return self._lines[row - 1].strip() if 0 < row <= len(self._lines) else ""

    def loops(self, row: int) -> tuple[int, ...]:
        """Rows of the loops around a row, in its function, the innermost first."""
        return self._loops.get(row, ())

    def _walk(self, node: ast.AST, loops: tuple[int, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            around = loops
            if isinstance(child, _FUNCTIONS):
                around = ()
            elif isinstance(child, _LOOPS):
                around = (child.lineno, *loops)
            if isinstance(child, ast.stmt):
                first = min((one.lineno for one in getattr(child, "decorator_list", ())), default=child.lineno)
                for row in range(first, _last_of_head(child) + 1):
                    self._statements[row] = child.lineno
                    self._loops[row] = loops if isinstance(child, _FUNCTIONS) else around
            self._walk(child, around)


def _last_of_head(statement: ast.stmt) -> int:
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    last = statement.end_lineno or statement.lineno
    if isinstance(body, list) and body:
        start = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
        decorators = getattr(body[0], "decorator_list", ())
        start = min([start, *(one.lineno for one in decorators)])
        last = max(statement.lineno, start - 1)
    return last


class Layouts:
    """The files of one script."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, Layout] = {}

    def of(self, path: str) -> Layout:
        """The layout of a file, by its path below the root."""
        known = self._known.get(path)
        if known is None:
            try:
                text = (self._root / path).read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = ""
            known = self._known[path] = Layout(text)
        return known
