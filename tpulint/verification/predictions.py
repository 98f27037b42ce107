"""The findings of the linter, by the lines that they speak about."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from tpulint.verification.costs import Cost

if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.config import Settings
    from tpulint.report.entry import Entry

_ABOUT_CUDA = frozenset({"device", "precision"})
"""Categories of rules whose findings predict no work of XLA."""


ELSEWHERE = {
    "input": ("partial-last-batch", "padded-to-longest", "data-dependent-shape", "growing-tensor"),
    "inputs": ("zero-grad-to-zeros",),
    "added": ("zero-grad-to-zeros",),
    "operations": ("missing-step-boundary", "evaluation-loop-without-boundary", "random-branch"),
}
"""Kinds of causes of a compilation, and names of rules that speak about another statement than the one that pays: a
data loader is told to make batches of two sizes where it is built, and the batch is what changes."""


class Prediction(NamedTuple):
    """A finding that predicted a cost."""

    code: str
    name: str
    message: str
    row: int


class Predictions:
    """Lints the files that costs were seen in, each once."""

    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._settings = settings._replace(fix=False)
        self._catalogue = catalogue
        self._categories = {rule.code: rule.category for rule in catalogue.rules}
        self._files: dict[str, _File] = {}

    def of(self, cost: Cost) -> tuple[Prediction, ...]:
        """Findings in the statement that paid it; else those in the file that are about what changed."""
        path = cost.line.path
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = _File(path, self._lint(path))
        found = [
            entry
            for entry in file.entries_at(cost.line.row)
            if cost.kind == "cuda" or self._categories.get(entry.code) not in _ABOUT_CUDA
        ]
        if not found:
            names = {name for cause in cost.causes for name in ELSEWHERE.get(cause, ())}
            found = [entry for entry in file.entries if entry.name in names]
        # Of several findings of a rule the first is enough.
        first = {entry.code: entry for entry in reversed(found)}
        return tuple(
            Prediction(entry.code, entry.name, entry.message, entry.place.row) for entry in reversed(first.values())
        )

    def source(self, path: str, row: int) -> str:
        """A line of a file, for display."""
        file = self._files.get(path) or _File(path, ())
        return file.lines[row - 1].strip() if 0 < row <= len(file.lines) else ""

    def _lint(self, path: str) -> Iterable[Entry]:
        from tpulint.session import Examination

        if not os.path.isfile(path):
            return ()
        return Examination(self._settings, self._catalogue, diff=False)(path).report.entries


class _File:
    def __init__(self, path: str, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            self._statements = _statements(ast.parse(text))
        except (OSError, SyntaxError, ValueError):
            text, self._statements = "", {}
        self.lines = text.splitlines()

    def entries_at(self, row: int) -> list[Entry]:
        """Findings in the statement that a line belongs to."""
        statement = self._statements.get(row, row)
        return [one for one in self.entries if self._statements.get(one.place.row, one.place.row) == statement]


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
