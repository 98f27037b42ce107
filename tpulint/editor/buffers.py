"""Texts that are open in an editor, linted as they stand there, saved or not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from tpulint.check_command import load_catalogue
from tpulint.config import ConfigError, Configuration
from tpulint.config_file import find, load
from tpulint.discovery import is_excluded
from tpulint.library import Library
from tpulint.linter import Surroundings, lint
from tpulint.model import Edit, FileResult, Span
from tpulint.report.entry import Entry, FileReport, FixEntry, describe
from tpulint.source import SourceFile

if TYPE_CHECKING:
    from tpulint.catalog import Catalogue


class Linted(NamedTuple):
    """What is known of one version of a text."""

    source: SourceFile
    report: FileReport

    def entries_in(self, cell: int, first: tuple[int, int], last: tuple[int, int]) -> list[Entry]:
        """Findings that touch a stretch of a cell, 0 for a file, given by rows and columns from 1, both included."""
        return [
            entry
            for entry in self.report.entries
            if entry.place.cell == cell
            and (entry.place.row, entry.place.column) <= last
            and first <= (entry.place.end_row, entry.place.end_column)
        ]

    def fix_of(self, entry: Entry) -> FixEntry | None:
        """The fix of a finding, if it has one."""
        return None if entry.fix is None else self.report.fixes[entry.fix]

    def fixed_by(self, fix: FixEntry) -> SourceFile:
        """The text after all edits of a fix."""
        source = self.source
        edits = []
        for text, place in fix.edits:
            above = source.first_row_of(place.cell) - 1
            start = source.offset(above + place.row, place.column)
            edits.append(Edit(Span(start, source.offset(above + place.end_row, place.end_column)), text))
        return source.with_edits(edits)


class Projects:
    """Configurations and rules, read once for all files that share them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Configuration, Catalogue]] = {}
        self._outdated: set[str] = set()
        self.trouble = ""
        """What is wrong with the configuration of the last file; until it is mended, what it said before holds."""

    def forget(self) -> None:
        """Read everything anew: a configuration file has changed."""
        self._outdated.update(self._known)

    def of(self, path: str) -> tuple[Configuration, Catalogue]:
        """Configuration and rules of a file. Raises ``ConfigError`` where they could never be read."""
        found = find(path) or os.path.dirname(path)
        self.trouble = ""
        if found not in self._known or found in self._outdated:
            try:
                configuration = load((path,))
                self._known[found] = (configuration, load_catalogue(configuration))
                self._outdated.discard(found)
            except ConfigError as error:
                if found not in self._known:
                    raise
                self.trouble = str(error)
        return self._known[found]

    def lint(self, source: SourceFile) -> Linted:
        """Lint a text under the path of its file. Raises ``ConfigError``."""
        configuration, _ = self.of(source.path)
        if is_excluded(source.path, configuration.run):
            return Linted(source, FileReport(source.path))
        return Linted(source, describe(self._result(source, fix=False), source))

    def fixed(self, source: SourceFile) -> SourceFile:
        """The text with all safe fixes, as ``tpulint --fix`` would leave it. Raises ``ConfigError``."""
        result = self._result(source, fix=True)
        return source.with_text(result.text, result.cell_starts)

    def _result(self, source: SourceFile, fix: bool) -> FileResult:
        configuration, catalogue = self.of(source.path)
        settings = configuration.settings._replace(fix=fix, unsafe_fixes=False)
        # A new library: files may have changed since the last time.
        result = lint(source, settings, catalogue, Surroundings(Library()))
        if result.error:
            raise ConfigError(f"{source.path}: {result.error}")
        return result
