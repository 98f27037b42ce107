"""One run: find the files, look into the cache, lint or fix the rest, keep what was learned."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable

from tpulint.config import Configuration
from tpulint.discovery import Problem, discover, is_excluded
from tpulint.examination import Examination
from tpulint.project import Project
from tpulint.records import NamedTuple
from tpulint.report.entry import FileReport, is_fixable
from tpulint.waves import Waves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.cache import Cache, Kept
    from tpulint.catalog import Catalogue
    from tpulint.old_findings import Marks


class Outcome(NamedTuple):
    """What a run gave."""

    reports: tuple[FileReport, ...]
    """One for each file, in order of path."""
    problems: tuple[Problem, ...]
    """Paths that could not be linted at all."""
    file_count: int
    cached_count: int
    """How many files were known from an earlier run."""


def run(
    configuration: Configuration,
    catalogue: Catalogue,
    on_progress: Callable[[int, int], None] | None = None,
    old: Marks | None = None,
) -> Outcome:
    """Lint the files of a run. ``on_progress`` is told how many files are done, of how many. ``old`` are findings that
    no fix may touch; such a run neither reads nor writes the cache."""
    # Trees live as long as the file is looked at: looking through them for garbage all the time finds none.
    # ``Examination`` collects now and then instead.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _run(configuration, catalogue, on_progress, old)
    finally:
        if was_enabled:
            gc.enable()


def _run(
    configuration: Configuration,
    catalogue: Catalogue,
    on_progress: Callable[[int, int], None] | None,
    old: Marks | None,
) -> Outcome:
    settings, wishes = configuration.settings, configuration.run
    found = discover(wishes)
    cache = None if wishes.no_cache or old else _open_cache(configuration, catalogue)
    project = Project()
    waves = Waves(Examination(settings, catalogue, wishes.diff, old, project), project, cache, wishes)
    problems = list(found.problems)
    unknown: list[tuple[int, str]] = []
    for path in found.files:
        try:
            status = os.stat(path)
        except OSError as error:
            problems.append(Problem(path, f"cannot be read: {error.strerror or error}"))
            continue
        known = None if cache is None else _known_report(cache, path, status)
        if known is None or (settings.fix and is_fixable(known.report, settings.required_applicability)):
            unknown.append((status.st_size, path))
        else:
            waves.take(known)
    cached_count = len(waves.reports)
    waves.examine(unknown, on_progress)
    if cache is not None:
        cache.save()
    in_order = (waves.reports[path] for path in found.files if path in waves.reports)
    return Outcome(tuple(in_order), tuple(problems), len(found.files), cached_count)


def run_text(data: bytes, configuration: Configuration, catalogue: Catalogue, old: Marks | None = None) -> Outcome:
    """Lint a text from standard input; a fixed text is in ``output`` of the report."""
    wishes = configuration.run
    name = wishes.stdin_filename or "-"
    if wishes.stdin_filename and wishes.force_exclude and is_excluded(wishes.stdin_filename, wishes):
        return Outcome((FileReport(name, output=data),), (), 0, 0)
    examination = Examination(configuration.settings, catalogue, wishes.diff, old)
    report = examination.examine(name, data, write=False).report
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


def _known_report(cache: Cache, path: str, status: os.stat_result) -> Kept | None:
    from tpulint.disk import changed_ns

    known = cache.find(path, changed_ns(status), status.st_size)
    if known is not None or not cache.is_worth_reading(path, status.st_size):
        return known
    # The same size at another time: a fresh checkout, perhaps. Reading is far cheaper than linting.
    from tpulint.digest import stamp_of
    from tpulint.disk import read

    try:
        content = read(path)
    except OSError:
        return None
    return cache.find_content(path, stamp_of(content.data, content.changed_ns))
