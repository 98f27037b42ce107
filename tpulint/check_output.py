"""What ``tpulint check`` prints, and where: text and diffs, the report, complaints, the summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from tpulint.config import ConfigError, Configuration
from tpulint.discovery import Problem
from tpulint.report.style import Style, name, wants_colour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from tpulint.catalog import Catalogue
    from tpulint.report.entry import Entry
    from tpulint.session import Outcome


def say(line: str) -> None:
    """One line on standard error, whatever names of files it holds."""
    print(name(line), file=sys.stderr, flush=True)


def tell_problems(problems: Iterable[Problem]) -> None:
    """One line on standard error for each file that could not be dealt with."""
    for problem in problems:
        place = f"{problem.path}:{problem.row}" if problem.row else problem.path
        say(f"error: {place}: {problem.message}")


def problems_of(outcome: Outcome) -> list[Problem]:
    """Everything that went wrong, by path."""
    failed = (Problem(one.path, one.error, one.error_row) for one in outcome.reports if one.error)
    return sorted([*outcome.problems, *failed])


def write_changes(configuration: Configuration, outcome: Outcome, colour: str) -> None:
    """What replaces a file on disk: the diffs of ``--diff``, the fixed text of standard input."""
    wishes = configuration.run
    sys.stdout.flush()
    if wishes.diff:
        paint = wants_colour(colour, sys.stdout)
        for report in outcome.reports:
            diff = report.diff
            if paint:
                from tpulint.report.diff import coloured

                diff = coloured(diff)
            sys.stdout.buffer.write(diff)
    elif wishes.paths[0] == "-" and configuration.settings.fix:
        for report in outcome.reports:
            sys.stdout.buffer.write(report.output or b"")
    sys.stdout.buffer.flush()


def report(
    configuration: Configuration,
    catalogue: Catalogue,
    outcome: Outcome,
    colour: str,
    quiet: bool,
    is_silent: bool = False,
) -> None:
    """The findings in the wanted format, complaints unless ``is_silent``, and for people a summary."""
    from tpulint.report import FOR_PEOPLE, render, render_statistics

    settings, wishes = configuration.settings, configuration.run
    problems = problems_of(outcome)
    # A diff, or a fixed text, has standard output for itself.
    is_taken = wishes.diff or (wishes.paths[0] == "-" and settings.fix)
    with _open(wishes.output_file, sys.stderr if is_taken else sys.stdout) as stream:
        style = Style(wants_colour(colour, stream))
        if not (wishes.diff or wishes.fix_only):
            if wishes.statistics:
                pieces = render_statistics(wishes.output_format, outcome.reports, settings, style)
            else:
                is_old = _old_in_pull_request() if wishes.output_format == "github" else None
                pieces = render(
                    wishes.output_format, outcome.reports, problems, catalogue, settings, style, wishes.order, is_old
                )
                if wishes.output_format == "github":
                    _write_step_summary(
                        render("markdown", outcome.reports, problems, catalogue, settings, style, "", is_old)
                    )
            stream.writelines(pieces)
        stream.flush()
        if not is_silent:
            tell_problems(problems)
        if not quiet and (wishes.diff or wishes.output_format in FOR_PEOPLE):
            stream.writelines(_summary(configuration, outcome, style, is_taken or bool(problems)))


def _old_in_pull_request() -> Callable[[str, Entry], bool] | None:
    """On GitHub, tells which findings a pull request did not bring; None elsewhere, and where git cannot tell."""
    base = os.environ.get("GITHUB_BASE_REF")
    if not base:
        return None
    from tpulint.changed_rows import ChangedRows
    from tpulint.old_findings import old_since

    try:
        return old_since(ChangedRows(f"origin/{base}", os.getcwd()))
    except ConfigError as error:
        say(f"warning: new findings do not come first: {error}")
        return None


def _write_step_summary(pieces: Iterable[str]) -> None:
    """On GitHub, add to the page of the run."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.writelines(pieces)
    except OSError as error:
        say(f"warning: no summary of the step: {error.strerror or error}")


def _summary(configuration: Configuration, outcome: Outcome, style: Style, only_news: bool) -> Iterator[str]:
    from tpulint.report import summary

    wishes = configuration.run
    tally = summary.Tally(outcome.reports, configuration.settings.required_applicability)
    if outcome.file_count == 0 and not outcome.problems and wishes.paths[0] != "-":
        say("warning: no Python files found under the given paths")
    if wishes.show_fixes:
        yield from summary.render_fixed(outcome.reports, style, would=wishes.diff)
    if wishes.diff:
        yield summary.render_diff(tally)
    elif wishes.fix_only:
        yield summary.render_fix_only(tally)
    elif tally.remaining or tally.fixed or not only_news:
        yield from summary.render(tally)


@contextmanager
def _open(output_file: str, default: TextIO) -> Iterator[TextIO]:
    if not output_file:
        yield default
        return
    try:
        with open(output_file, "w", encoding="utf-8", errors="backslashreplace") as stream:
            yield stream
    except OSError as error:
        raise ConfigError(f"command line: cannot write {output_file}: {error.strerror or error}") from None
