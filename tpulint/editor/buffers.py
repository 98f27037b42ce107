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
from tpulint.model import FileResult
from tpulint.report.entry import Entry, FileReport, FixEntry, describe
from tpulint.source import SourceFile

if TYPE_CHECKING:
    from tpulint.catalog import Catalogue


class Linted(NamedTuple):
    """What is known of one version of a text."""

    source: SourceFile
    report: FileReport

    def entries_in(self, first: tuple[int, int], last: tuple[int, int]) -> list[Entry]:
        """Findings that touch a stretch, given by rows and columns from 1, both ends included."""
        return [
            entry
            for entry in self.report.entries
            if (entry.place.row, entry.place.column) <= last and first <= (entry.place.end_row, entry.place.end_column)
        ]

    def fix_of(self, entry: Entry) -> FixEntry | None:
        """The fix of a finding, if it has one."""
        return None if entry.fix is None else self.report.fixes[entry.fix]


class Projects:
    """Configurations and rules, read once for all files that share them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Configuration, Catalogue]] = {}

    def forget(self) -> None:
        """Read everything anew: a configuration file has changed."""
        self._known.clear()

    def of(self, path: str) -> tuple[Configuration, Catalogue]:
        """Configuration and rules of a file. Raises ``ConfigError``."""
        found = find(path) or os.path.dirname(path)
        if found not in self._known:
            configuration = load((path,))
            self._known[found] = (configuration, load_catalogue(configuration))
        return self._known[found]

    def lint(self, path: str, text: str) -> Linted:
        """Lint a text under the path of its file. Raises ``ConfigError``."""
        configuration, _ = self.of(path)
        source = SourceFile.from_text(text, path)
        if is_excluded(path, configuration.run):
            return Linted(source, FileReport(path))
        return Linted(source, describe(self._result(source, fix=False), source))

    def fixed(self, path: str, text: str) -> str:
        """The text with all safe fixes, as ``tpulint --fix`` would leave it. Raises ``ConfigError``."""
        return self._result(SourceFile.from_text(text, path), fix=True).text

    def _result(self, source: SourceFile, fix: bool) -> FileResult:
        configuration, catalogue = self.of(source.path)
        settings = configuration.settings._replace(fix=fix, unsafe_fixes=False)
        # A new library: files may have changed since the last time.
        result = lint(source, settings, catalogue, Surroundings(Library()))
        if result.error:
            raise ConfigError(f"{source.path}: {result.error}")
        return result
