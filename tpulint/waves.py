"""The files of a run, one after the other or on several processes, and again those of which more is known later."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from tpulint.call_order import in_call_order, may_call
from tpulint.disk import changed_ns
from tpulint.examination import Examination, Examined
from tpulint.library import Stamp, stamp_of_file
from tpulint.report.entry import FileReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.cache import Cache, Kept
    from tpulint.config import RunSettings
    from tpulint.project import Project

_POOL_FILES = 200
_POOL_BYTES = 1_000_000
"""From so many files, or so much text, on several processes are faster than one."""
_LARGEST_SHARE = 16
"""Files that a process is given at once."""
_SHARES = 4
"""How many shares there are at least for every process: one that has more to do with its files gets fewer."""
_MOST_WAVES = 4
"""How many files deep calls are followed: a loop, what it calls, what that calls."""


class _Steps:
    """Counts what is done."""

    def __init__(self, on_progress: Callable[[int, int], None], total: int) -> None:
        self._on_progress = on_progress
        self._total = total
        self._done = 0

    def __call__(self) -> None:
        self._done += 1
        self._on_progress(self._done, self._total)


class Waves:
    """Collects the reports of a run.

    A call in the step loop of one file makes the lines of a function in another run in every step. So files come in
    the order of calls. Where it turns out that a file is called otherwise than was known, it is examined once more.
    """

    def __init__(self, examination: Examination, project: Project, cache: Cache | None, wishes: RunSettings) -> None:
        self.reports: dict[str, FileReport] = {}
        self._examination = examination
        self._cache = cache
        self._wishes = wishes
        self._project = project
        self._sizes: dict[str, int] = {}
        self._serving: list[str] = []
        self._built_on: dict[str, Mapping[str, Stamp]] = {}
        """For each file with findings that fixes have left, the others that these depend on, with what they were."""

    def take(self, known: Kept) -> None:
        """Take in what an earlier run learned about a file that did not change since."""
        path = known.report.path
        self.reports[path] = known.report
        self._project.note(path, known.calls, known.outside)
        self._sizes[path] = known.size
        if known.serves:
            self._serving.append(path)

    def examine(self, files: list[tuple[int, str]], on_progress: Callable[[int, int], None] | None) -> None:
        """Examine the files that nothing is known of, given with their sizes, and all that turn out to need it."""
        self._sizes.update((path, size) for size, path in files)
        shown = None if on_progress is None else _Steps(on_progress, len(files))
        self._wave(in_call_order([path for _, path in files]), shown)
        self._ask_neighbours()
        for _ in range(_MOST_WAVES - 1):
            again = dict.fromkeys((*self._project.outdated(self.reports), *self._overtaken()))
            if not again:
                break
            self._wave([[*again]], None)

    def _overtaken(self) -> list[str]:
        """Files with findings that may be gone since a file was fixed that they depend on: `loss.item()` behind a call
        of a step that has got its boundary."""
        asked = {one for others in self._built_on.values() for one in others}
        now = {one: stamp_of_file(one) for one in asked}
        return [path for path, others in self._built_on.items() if any(now[one] != others[one] for one in others)]

    def _wave(self, groups: Sequence[Sequence[str]], shown: Callable[[], None] | None) -> None:
        for examined in self._examine_all(groups):
            self._keep(examined)
            if shown is not None:
                shown()

    def _keep(self, examined: Examined) -> None:
        report = examined.report
        before = self.reports.get(report.path)
        if before is None and examined.serves:
            self._serving.append(report.path)
        if before is not None and not self._examination.diff:
            report = report._replace(fixed=before.fixed + report.fixed)
        self.reports[report.path] = report
        self._built_on.pop(report.path, None)
        if self._examination.fixes and report.entries:
            own = os.path.abspath(report.path)
            self._built_on[report.path] = {one: stamp for one, stamp in examined.dependencies.items() if one != own}
        self._learn(examined)

    def _learn(self, examined: Examined) -> None:
        path = examined.report.path
        # What failed would fail again, however much is known of it.
        outside = self._project.calls_into(path) if examined.report.error else examined.outside
        self._project.note(path, examined.calls, outside)
        if self._cache is not None:
            self._cache.keep(examined)

    def _ask_neighbours(self) -> None:
        """Learn how files that were not to be linted call those that were."""
        if not self._serving:
            return
        searched = [os.path.abspath(path) for path in self._wishes.paths]
        if os.path.abspath(self._wishes.root) in searched:
            return
        from tpulint.neighbours import neighbours

        linted = {os.path.abspath(path) for path in self.reports}
        of_calls = self._examination.of_calls()
        exclude = (*self._wishes.exclude, *self._wishes.extend_exclude)
        for path in neighbours(self._serving, exclude, may_call, linted, searched):
            known = self._known(path)
            if known is None:
                self._learn(of_calls(path))
            else:
                self._project.note(path, known.calls, known.outside)

    def _known(self, path: str) -> Kept | None:
        try:
            status = os.stat(path)
        except OSError:
            return None
        if self._cache is None:
            return None
        return self._cache.find(path, changed_ns(status), status.st_size, only_calls=True)

    def _examine_all(self, groups: Sequence[Sequence[str]]) -> Iterator[Examined]:
        """Examine groups of files that know of each other."""
        paths = [path for group in groups for path in group]
        size = sum(self._sizes[path] for path in paths)
        jobs = min(self._wishes.jobs or _core_count(), len(paths))
        if jobs < 2 or (len(paths) < _POOL_FILES and size < _POOL_BYTES):
            yield from map(self._examination, paths)
            return
        from tpulint.pool import Died
        from tpulint.pool import run as run_pool

        shares = self._shares(groups, jobs, size)
        for path, examined in run_pool(self._examination, shares, jobs):
            if isinstance(examined, Died):
                message = f"internal error: the process died on this file (exit status {examined.status})"
                examined = Examined(FileReport(path, error=message))
            yield examined

    def _shares(self, groups: Sequence[Sequence[str]], jobs: int, size: int) -> list[list[str]]:
        """What one process works on by itself: a group, or a part of one where it is large.

        The largest first: a long file at the end would keep one process busy while the others wait.
        """
        most = size // (_SHARES * jobs)
        ordered: list[tuple[int, list[str]]] = []
        for group in groups:
            whole = sum(self._sizes[path] for path in group)
            share: list[str] = []
            taken = 0
            for path in group:
                if share and (len(share) == _LARGEST_SHARE or taken + self._sizes[path] > most):
                    ordered.append((whole, share))
                    share, taken = [], 0
                share.append(path)
                taken += self._sizes[path]
            ordered.append((whole, share))
        ordered.sort(key=lambda item: item[0], reverse=True)
        return [share for _, share in ordered]


def _core_count() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
