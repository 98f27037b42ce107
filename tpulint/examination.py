"""One file of a run: read, linted, fixed, described."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping

from tpulint.config import Settings
from tpulint.library import Library
from tpulint.library import Stamp as FileStamp
from tpulint.model import OutgoingCall, OutsideCall
from tpulint.project import Project
from tpulint.records import NamedTuple
from tpulint.report.entry import FileReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.digest import Stamp
    from tpulint.model import Finding
    from tpulint.old_findings import Marks
    from tpulint.source import SourceFile


_COLLECTED_AFTER = 256
"""Files. An index is let go of when its file is done, so that little garbage is left to collect."""


class Examined(NamedTuple):
    """One file, examined."""

    report: FileReport
    stamp: Stamp | None = None
    """Set when the report is that of a plain check, which may be kept."""
    calls: tuple[OutgoingCall, ...] = ()
    """What the file calls in other files in every turn of its loops."""
    outside: tuple[OutsideCall, ...] = ()
    """How others call its functions, as far as that was known."""
    serves: bool = False
    """Whether calls in other files decide how often the lines of the file run."""
    dependencies: Mapping[str, FileStamp] = {}
    """Other files that the report depends on, with what they were."""
    only_calls: bool = False
    """Whether nothing was looked for but calls: the report tells of no findings."""


class Examination:
    """What is done with each file. Can be sent to another process."""

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        diff: bool,
        old: Marks | None = None,
        project: Project | None = None,
        library: Library | None = None,
        only_calls: bool = False,
    ) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._diff = diff
        self._old = old or {}
        """Findings that no fix may touch."""
        self._project = Project() if project is None else project
        """Grows with every file: those examined later know how the earlier ones call them."""
        self._library = Library() if library is None else library
        self._only_calls = only_calls
        self._count = 0

    @property
    def diff(self) -> bool:
        """Whether fixes are shown and nothing is written."""
        return self._diff

    @property
    def fixes(self) -> bool:
        """Whether fixes are written into the files."""
        return self._settings.fix and not self._diff

    def of_calls(self) -> Examination:
        """What finds out what files call in others, and no more, without knowing of any calls."""
        self._library.open(changed=True)
        settings = self._settings._replace(fix=False)
        return Examination(settings, self._catalogue, diff=False, library=self._library, only_calls=True)

    def __call__(self, path: str) -> Examined:
        """Lint a file and, when the settings say so, fix it on disk (or tell what fixing would change)."""
        from tpulint.disk import read

        self._count += 1
        if self._count % _COLLECTED_AFTER == 0:
            gc.collect()

        try:
            content = read(path)
        except OSError as error:
            return Examined(FileReport(path, error=f"cannot be read: {error.strerror or error}"))
        return self.examine(path, content.data, content.changed_ns)

    def examine(self, path: str, data: bytes, changed_ns: int = 0, write: bool = True) -> Examined:
        """The same for a content at hand; ``write`` puts a fixed text into the file, else into ``report.output``."""
        from tpulint.languages import is_notebook
        from tpulint.linter import Surroundings, lint
        from tpulint.report.entry import describe
        from tpulint.rule_findings import crash_message
        from tpulint.source import SourceFile, UnreadableSource

        try:
            source = SourceFile.from_bytes(data, path)
        except UnreadableSource as error:
            if is_notebook(path):
                from tpulint.notebooks.places import unreadable

                return Examined(unreadable(data, path, error))
            return Examined(FileReport(path, error=error.message, error_row=error.row))
        self._library.open(changed=self.fixes)
        surroundings = Surroundings(self._library, self._project.calls_into(path))
        try:
            untouchable = self._untouchable(path)
            result = lint(source, self._settings, self._catalogue, surroundings, untouchable, self._only_calls)
            report = describe(result, source)
            changed = not result.error and result.text != source.text
            fixed = source.with_text(result.text, result.cell_starts) if changed else source
            after = fixed.to_bytes() if changed else data
        except Exception as error:
            return Examined(FileReport(path, error=crash_message(error)))
        if self._diff:
            if changed and source.cell_starts:
                from tpulint.notebooks.places import diff_of_cells

                report = report._replace(diff=diff_of_cells(path, source, fixed))
            elif changed:
                from tpulint.report.diff import unified

                report = report._replace(diff=unified(path, data, after))
        elif not write:
            report = report._replace(output=after)
        elif changed:
            from tpulint.disk import ChangedOnDisk, HalfWritten, replace

            try:
                replace(path, data, after)
            except (ChangedOnDisk, HalfWritten) as error:  # nothing is known of what it holds now
                return Examined(FileReport(path, error=f"cannot be written: {error.strerror or error}"))
            except OSError as error:
                # What was found in the fixed text says nothing about the file, which is still there.
                result = lint(source, self._settings._replace(fix=False), self._catalogue, surroundings)
                report = describe(result, source)._replace(error=f"cannot be written: {error.strerror or error}")
                changed = False
        stamp = None
        if not changed and not report.error:
            from tpulint.digest import stamp_of

            stamp = stamp_of(data, changed_ns)
        self._project.note(path, result.calls, surroundings.calls)
        dependencies = self._library.dependencies(path)
        calls = result.calls, surroundings.calls
        return Examined(report, stamp, *calls, result.serves, dependencies, self._only_calls)

    def _untouchable(self, path: str) -> Callable[[SourceFile, list[Finding]], list[Finding]] | None:
        old = self._old.get(os.path.abspath(path)) if self._old else None
        if not old:
            return None
        from tpulint.old_findings import without_fixes

        return lambda source, findings: without_fixes(source, findings, old)
