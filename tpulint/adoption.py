"""Runs over a code base with many old findings: only the new ones are told of, or all of them are put on record."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence

from tpulint.baseline import DEFAULT_NAME, Baseline, Stale
from tpulint.config import ConfigError, Configuration
from tpulint.linter import INVALID_SYNTAX
from tpulint.old_findings import Mark, Marks, kept_whole, marks_outside, without_marked, without_unchanged
from tpulint.suppressions import UNUSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.session import Outcome

    Run = Callable[[Configuration, Marks | None], Outcome]

_SHOWN_STALE = 10


def check_wishes(configuration: Configuration) -> None:
    """Raise ``ConfigError`` for wishes that contradict each other."""
    wishes = configuration.run
    recording = [name for name, wanted in (("--write-baseline", wishes.write_baseline),
                                           ("--add-noqa", wishes.add_noqa)) if wanted]  # fmt: skip
    if not recording:
        return
    if len(recording) > 1:
        raise ConfigError("command line: --write-baseline and --add-noqa cannot go together")
    if configuration.settings.fix:
        given = "--diff" if wishes.diff else "--fix"
        raise ConfigError(f"command line: {recording[0]} cannot go together with {given}; fix first")
    if wishes.paths[0] == "-":
        raise ConfigError(f"command line: {recording[0]} needs files, not standard input")
    if wishes.write_baseline and wishes.diff_base is not None:
        raise ConfigError("command line: --write-baseline and --diff-base cannot go together")
    if wishes.add_noqa and "".join(wishes.noqa_reason.splitlines()) != wishes.noqa_reason:
        # What follows the end of a line is no comment any more.
        raise ConfigError("command line: --noqa-reason must be one line")


def run_for_new(configuration: Configuration, catalogue: Catalogue, run: Run) -> tuple[Outcome, list[str]]:
    """What a run tells of new findings, fixes included, and what to tell of the baseline. Raises ``ConfigError``."""
    settings, wishes = configuration.settings, configuration.run
    baseline = Baseline.read(wishes.baseline) if wishes.baseline else None
    marks: dict[str, Counter[Mark]] = dict(baseline.marks) if baseline else {}
    changed = since = None
    if wishes.diff_base is not None:
        from tpulint.changed_rows import ChangedRows

        if wishes.paths[0] == "-":
            raise ConfigError("command line: --diff-base needs files, not standard input")
        if not wishes.diff_base:
            raise ConfigError("command line: --diff-base needs a revision, such as origin/main, not an empty text")
        changed = since = ChangedRows(wishes.diff_base, os.getcwd())
    if changed is not None and settings.fix:
        # Once a line is fixed, rows say nothing any more.
        looking = configuration._replace(
            settings=settings._replace(fix=False), run=wishes._replace(diff=False, fix_only=False)
        )
        for path, found in marks_outside(run(looking, None).reports, changed).items():
            marks[path] = marks.get(path, Counter()) | found
        changed = None
    outcome = run(configuration, marks if settings.fix else None)
    codes = [rule.code for rule in catalogue.select(settings)]
    stale = [] if baseline is None else list(baseline.stale(outcome.reports, codes))
    reports = outcome.reports
    if changed is not None:
        reports = tuple(without_unchanged(report, changed) for report in reports)
    if marks:
        reports = tuple(without_marked(report, marks) for report in reports)
    if not settings.fix:  # a run that fixes knows what it leaves alone
        pairs = zip(outcome.reports, reports, strict=True)
        reports = tuple(kept_whole(before, after, catalogue, settings) for before, after in pairs)
    told = _stale_lines(wishes.baseline, stale)
    if since is not None and since.left_out:
        shown = ", ".join(sorted(since.left_out)[:3]) + (", ..." if len(since.left_out) > 3 else "")
        told.append(f"warning: --diff-base knows nothing of files in other repositories; left out: {shown}")
    return outcome._replace(reports=reports), told


def write_baseline(configuration: Configuration, outcome: Outcome) -> str:
    """Put all findings of a run on record; what to tell the user. Raises ``ConfigError``."""
    path = configuration.run.baseline or os.path.join(configuration.run.root, DEFAULT_NAME)
    known = Baseline.read_or_start(path)
    count = known.updated(outcome.reports).write()
    shown = os.path.relpath(path)
    hint = "" if configuration.run.baseline else f'; use it with `--baseline {shown}`, or `baseline = "{DEFAULT_NAME}"`'
    return f"Wrote {count} finding{'s' * (count != 1)} to {shown}{hint}."


def add_noqa(configuration: Configuration, outcome: Outcome) -> tuple[Outcome, str]:
    """Silence all findings of a run by comments; the outcome with what could not be, and what to tell the user."""
    from tpulint.silencing import silence

    reports = [silence(report, configuration.run.noqa_reason) for report in outcome.reports]
    count = sum(len(before.entries) for before in outcome.reports) - sum(len(after.entries) for after in reports)
    files = sum(
        len(before.entries) > len(after.entries) for before, after in zip(outcome.reports, reports, strict=True)
    )
    said = f"Silenced {count} finding{'s' * (count != 1)} in {files} file{'s' * (files != 1)}."
    return outcome._replace(reports=tuple(reports)), said


def only_broken(outcome: Outcome) -> Outcome:
    """The outcome with syntax errors alone."""
    reports = (
        report._replace(entries=tuple(entry for entry in report.entries if entry.code == INVALID_SYNTAX))
        for report in outcome.reports
    )
    return outcome._replace(reports=tuple(reports))


def left_lines(outcome: Outcome, why: str) -> list[str]:
    """What to tell of findings that could not be put on record. That a file cannot be written is told already."""
    reports = [report for report in outcome.reports if not report.error]
    found = [(report, entry) for report in reports for entry in report.entries if entry.code != UNUSED]
    return [f"warning: {report.path}:{entry.place.row}: {entry.code} {why}" for report, entry in found]


def _stale_lines(path: str, stale: Sequence[Stale]) -> list[str]:
    if not stale:
        return []
    count = sum(one.number for one in stale)
    lines = [f"warning: {count} finding{'s' * (count != 1)} of the baseline {os.path.relpath(path)} "
             f"{'are' if count != 1 else 'is'} gone; `--write-baseline` drops them"]  # fmt: skip
    lines += [f"  {one.path}: {one.mark.code} {one.mark.line}" for one in stale[:_SHOWN_STALE]]
    if len(stale) > _SHOWN_STALE:
        lines.append(f"  and {len(stale) - _SHOWN_STALE} more")
    return lines
