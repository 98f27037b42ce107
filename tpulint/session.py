"""One run: find the files, look into the cache, lint or fix the rest, keep what was learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tpulint.config import Configuration, Settings
from tpulint.discovery import Problem, discover, is_excluded
from tpulint.report.entry import FileReport, is_fixable

if TYPE_CHECKING:
    from tpulint.cache import Cache, Stamp
    from tpulint.catalog import Catalogue

_POOL_FILES = 200
_POOL_BYTES = 1_000_000
"""From so many files, or so much text, on several processes are faster than one."""


class Outcome(NamedTuple):
    """What a run gave."""

    reports: tuple[FileReport, ...]
    """One for each file, in order of path."""
    problems: tuple[Problem, ...]
    """Paths that could not be linted at all."""
    file_count: int
    cached_count: int
    """How many files were known from an earlier run."""


class Examined(NamedTuple):
    """One file, examined."""

    report: FileReport
    stamp: Stamp | None
    """Set when the report is that of a plain check, which may be kept."""


class Examination:
    """What is done with each file. Can be sent to another process."""

    def __init__(self, settings: Settings, catalogue: Catalogue, diff: bool) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._diff = diff

    def __call__(self, path: str) -> Examined:
        """Lint a file and, when the settings say so, fix it on disk (or tell what fixing would change)."""
        from tpulint.disk import read

        try:
            content = read(path)
        except OSError as error:
            return Examined(FileReport(path, error=f"cannot be read: {error.strerror or error}"), None)
        return self.examine(path, content.data, content.changed_ns)

    def examine(self, path: str, data: bytes, changed_ns: int = 0, write: bool = True) -> Examined:
        """The same for a content at hand; ``write`` puts a fixed text into the file, else into ``report.output``."""
        from tpulint.linter import crash_message, lint
        from tpulint.report.entry import describe
        from tpulint.source import SourceFile, UnreadableSource

        try:
            source = SourceFile.from_bytes(data, path)
        except UnreadableSource as error:
            return Examined(FileReport(path, error=error.message, error_row=error.row), None)
        try:
            result = lint(source, self._settings, self._catalogue)
            report = describe(result, source)
            changed = not result.error and result.text != source.text
            after = source.render(result.text) if changed else data
        except Exception as error:
            return Examined(FileReport(path, error=crash_message(error)), None)
        if self._diff:
            if changed:
                from tpulint.report.diff import unified

                report = report._replace(diff=unified(path, data, after))
        elif not write:
            report = report._replace(output=after)
        elif changed:
            from tpulint.disk import replace

            try:
                replace(path, data, after)
            except OSError as error:
                # What was found in the fixed text says nothing about the file that is still there.
                return Examined(FileReport(path, error=f"cannot be written: {error.strerror or error}"), None)
        if changed or report.error:
            return Examined(report, None)
        from tpulint.cache import stamp_of

        return Examined(report, stamp_of(data, changed_ns))


def run(
    configuration: Configuration, catalogue: Catalogue, on_progress: Callable[[int, int], None] | None = None
) -> Outcome:
    """Lint the files of a run. ``on_progress`` is told how many files are done, of how many."""
    settings, wishes = configuration.settings, configuration.run
    found = discover(wishes)
    cache = None if wishes.no_cache else _open_cache(configuration, catalogue)
    reports: dict[str, FileReport] = {}
    problems = list(found.problems)
    unknown: list[tuple[int, str]] = []
    for path in found.files:
        try:
            status = os.stat(path)
        except OSError as error:
            problems.append(Problem(path, f"cannot be read: {error.strerror or error}"))
            continue
        known = None if cache is None else _known_report(cache, path, status)
        if known is None or (settings.fix and is_fixable(known, settings.required_applicability)):
            unknown.append((status.st_size, path))
        else:
            reports[path] = known
    cached_count = len(reports)
    examination = Examination(settings, catalogue, wishes.diff)
    for done, examined in enumerate(_examine_all(examination, unknown, wishes.jobs), 1):
        reports[examined.report.path] = examined.report
        if cache is not None and examined.stamp is not None:
            cache.keep(examined.report, examined.stamp)
        if on_progress is not None:
            on_progress(done, len(unknown))
    if cache is not None:
        cache.save()
    in_order = (reports[path] for path in found.files if path in reports)
    return Outcome(tuple(in_order), tuple(problems), len(found.files), cached_count)


def run_text(data: bytes, configuration: Configuration, catalogue: Catalogue) -> Outcome:
    """Lint a text from standard input; a fixed text is in ``output`` of the report."""
    wishes = configuration.run
    name = wishes.stdin_filename or "-"
    if wishes.stdin_filename and wishes.force_exclude and is_excluded(wishes.stdin_filename, wishes):
        return Outcome((FileReport(name, output=data),), (), 0, 0)
    report = Examination(configuration.settings, catalogue, wishes.diff).examine(name, data, write=False).report
    if report.output is None:
        report = report._replace(output=data)  # whoever pipes a text through must not lose it
    return Outcome((report,), (), 1, 0)


def _open_cache(configuration: Configuration, catalogue: Catalogue) -> Cache:
    from tpulint.cache import FOLDER, Cache, engine_key

    wishes = configuration.run
    folder = wishes.cache_dir or os.path.join(wishes.root, FOLDER)
    cache = Cache(folder, wishes.root, f"{engine_key()} {configuration.settings.digest} {catalogue.digest}")
    cache.load()
    return cache


def _known_report(cache: Cache, path: str, status: os.stat_result) -> FileReport | None:
    from tpulint.disk import changed_ns

    report = cache.find(path, changed_ns(status), status.st_size)
    if report is not None or not cache.is_worth_reading(path, status.st_size):
        return report
    # The same size at another time: a fresh checkout, perhaps. Reading is far cheaper than linting.
    from tpulint.cache import stamp_of
    from tpulint.disk import read

    try:
        content = read(path)
    except OSError:
        return None
    return cache.find_content(path, stamp_of(content.data, content.changed_ns))


def _examine_all(examination: Examination, files: list[tuple[int, str]], jobs: int) -> Iterator[Examined]:
    jobs = min(jobs or _core_count(), len(files))
    if jobs < 2 or (len(files) < _POOL_FILES and sum(size for size, _ in files) < _POOL_BYTES):
        yield from (examination(path) for _, path in files)
        return
    from tpulint.pool import Died
    from tpulint.pool import run as run_pool

    # The largest first: a long file at the end would keep one process busy while the others wait.
    paths = [path for _, path in sorted(files, reverse=True)]
    for number, examined in run_pool(examination, paths, jobs):
        if isinstance(examined, Died):
            message = f"internal error: the process died on this file (exit status {examined.status})"
            examined = Examined(FileReport(paths[number], error=message), None)
        yield examined


def _core_count() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
