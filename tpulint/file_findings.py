"""The findings in a file, by the statements that they stand in."""

from __future__ import annotations

import ast
import os

from tpulint.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.config import Settings
    from tpulint.report.entry import Entry


_DEPTH = 4
"""How many files deep calls are followed."""


class FilesFindings:
    """Lints files that something is to be explained in, each once."""

    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._settings = settings._replace(fix=False)
        self._catalogue = catalogue
        self._project = Project()
        self._files: dict[str, FileFindings] = {}
        self.categories = {rule.code: rule.category for rule in catalogue.rules}
        """Of rules, by their codes."""

    def of(self, path: str) -> FileFindings:
        """Those of a file; none for a file that is not there."""
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = FileFindings(path, self._lint(path))
        return file

    def called_from(self, path: str) -> list[str]:
        """The files whose functions run in the turns of a file's loops."""
        self.of(path)
        for _ in range(_DEPTH):
            called = self._project.called_from(path)
            if all(file in self._files for file in called):
                break
            for file in called:
                self.of(file)
        return self._project.called_from(path)

    def _lint(self, path: str) -> tuple[Entry, ...]:
        """The findings as ``check`` tells them: how the rest of the project calls the file is known."""
        from tpulint.config import RunSettings
        from tpulint.examination import Examination
        from tpulint.waves import Waves

        if not os.path.isfile(path):
            return ()
        examination = Examination(self._settings, self._catalogue, diff=False, project=self._project)
        waves = Waves(examination, self._project, None, RunSettings(paths=(path,), jobs=1))
        waves.examine([(os.path.getsize(path), path)], None)
        return tuple(waves.reports[path].entries)


class FileFindings:
    """One file."""

    def __init__(self, path: str, entries: tuple[Entry, ...]) -> None:
        self.entries = entries
        """All findings."""
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            tree = ast.parse(text)
        except (OSError, SyntaxError, ValueError):
            text, tree = "", ast.Module([], [])
        self._statements = _statements(tree)
        self._functions = [
            (node.lineno, node.end_lineno or node.lineno)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        self._lines = text.splitlines()

    def at(self, row: int) -> list[Entry]:
        """Findings in the statement that a line belongs to."""
        statement = self._statements.get(row, row)
        return [one for one in self.entries if self._statements.get(one.place.row, one.place.row) == statement]

    def in_function(self, row: int) -> list[Entry]:
        """Findings in the innermost function around a line; none outside of functions."""
        around = [(first, last) for first, last in self._functions if first <= row <= last]
        if not around:
            return []
        first, last = max(around)
        return [one for one in self.entries if first <= one.place.row <= last]

    def source(self, row: int) -> str:
        """A line, for display."""
        return self._lines[row - 1].strip() if 0 < row <= len(self._lines) else ""


def _statements(tree: ast.AST) -> dict[int, int]:
    """For every line, the first line of the innermost statement on it; of a compound statement only its head counts."""
    first: dict[int, int] = {}
    for node in ast.walk(tree):  # outer statements come before inner ones
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = node.end_lineno or node.lineno
            if isinstance(body, list) and body:
                start = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
                last = max(node.lineno, start - 1)
            for row in range(node.lineno, last + 1):
                first[row] = node.lineno
    return first
