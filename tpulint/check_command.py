"""``tpulint check``: from the command line to an exit status."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Mapping, Sequence

from tpulint.check_output import problems_of, report, say, tell_problems, write_changes
from tpulint.config import SERVER_FORMATS, ConfigError, Configuration
from tpulint.config_file import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tpulint.catalog import Catalogue
    from tpulint.old_findings import Marks
    from tpulint.session import Outcome

CLEAN, FOUND, FAILED = 0, 1, 2
"""Exit statuses: nothing found, something found, tpulint could not do its work."""


def check(paths: Sequence[str], given: Mapping[str, Any]) -> int:
    """Run with the options of the command line; the exit status. Raises ``ConfigError``."""
    paths = paths or (".",)
    if "-" in paths and len(paths) > 1:
        raise ConfigError("command line: `-` (standard input) cannot be linted together with other paths")
    if not given["watch"]:
        return _check(paths, given)
    for once in ("write_baseline", "add_noqa", "show_settings", "show_files"):
        if given[once]:
            raise ConfigError(f"command line: --watch and --{once.replace('_', '-')} cannot go together")
    from tpulint.watching import watch

    gc.enable()  # such a run has no end
    return watch(lambda: _configured(paths, given), lambda: _check(paths, given), paths)


def _configured(paths: Sequence[str], given: Mapping[str, Any]) -> Configuration:
    from tpulint.check_options import flags_of, invocation_of

    return _with_implied_fixes(
        load(paths, flags_of(given), given["configs"], given["isolated"], invocation_of(given)), given
    )


def _check(paths: Sequence[str], given: Mapping[str, Any]) -> int:
    started = time.perf_counter()
    configuration = _configured(paths, given)
    _refuse_empty_report(configuration)
    catalogue = load_catalogue(configuration)
    if given["show_settings"]:
        _show_settings(configuration, catalogue)
        return CLEAN
    if given["show_files"]:
        return _show_files(configuration)
    is_quiet = given["quiet"] or given["silent"]
    outcome = _outcome(configuration, catalogue, is_quiet)
    if configuration.run.write_baseline or configuration.run.add_noqa:
        return _put_on_record(configuration, outcome, is_quiet)
    if given["verbose"]:
        _tell_about(configuration, catalogue, outcome, time.perf_counter() - started)
    write_changes(configuration, outcome, given["color"])
    if configuration.run.output_file or not given["silent"]:
        report(configuration, catalogue, outcome, given["color"], is_quiet, is_silent=given["silent"])
    return exit_status(configuration, outcome)


def _refuse_empty_report(configuration: Configuration) -> None:
    """Raise ``ConfigError`` where a program would be given a report without the findings that it is to read."""
    wishes = configuration.run
    if wishes.output_format not in SERVER_FORMATS:
        return
    for name, wanted, prints in (
        ("--statistics", wishes.statistics, "counts"),
        ("--diff", wishes.diff, "a diff"),
        ("--fix-only", wishes.fix_only, "nothing"),
    ):
        if wanted:
            raise ConfigError(
                f"command line: {name} prints {prints}, and `--output-format {wishes.output_format}` findings"
            )


def load_catalogue(configuration: Configuration) -> Catalogue:
    """The rules, with everything the configuration says about rules checked. Raises ``ConfigError``."""
    from tpulint.catalog import CardError
    from tpulint.catalog import load as load_rules

    plugins, origin = configuration.settings.plugins, configuration.origin("plugins")
    for plugin in plugins:
        if not all(part.isidentifier() for part in plugin.split(".")):
            raise ConfigError(f"{origin}: `plugins`: `{plugin}` is no name of a package")
    try:
        catalogue = load_rules(configuration.settings.packages)
    except CardError as error:
        raise ConfigError(f"bad rule: {error}") from None
    except (ImportError, TypeError, ValueError) as error:
        raise ConfigError(f"{origin}: `plugins`: {error}") from None
    for plugin in plugins:
        if not catalogue.holds(plugin):
            raise ConfigError(f"{origin}: `plugins`: there are no rules in `{plugin}`")
    configuration.check_rules(catalogue)
    return catalogue


def exit_status(configuration: Configuration, outcome: Outcome) -> int:
    """What the process tells its caller."""
    wishes = configuration.run
    if outcome.problems or any(report.error for report in outcome.reports):
        return FAILED
    if wishes.exit_zero:
        return CLEAN
    fixed = any(report.fixed for report in outcome.reports)
    if wishes.diff:
        return FOUND if any(report.diff for report in outcome.reports) else CLEAN
    if wishes.exit_non_zero_on_fix and fixed:
        return FOUND
    if wishes.fix_only:
        unreadable = any(entry.code == "invalid-syntax" for report in outcome.reports for entry in report.entries)
        return FOUND if unreadable else CLEAN
    return FOUND if any(report.entries for report in outcome.reports) else CLEAN


def _with_implied_fixes(configuration: Configuration, given: Mapping[str, Any]) -> Configuration:
    """``--diff`` and ``fix-only`` imply fixing, ``--no-fix`` overrules them."""
    settings, wishes = configuration.settings, configuration.run
    wanted = settings.fix or wishes.fix_only
    if given["fix"] is False:
        wanted = False
        wishes = wishes._replace(fix_only=False)
    return configuration._replace(settings=settings._replace(fix=wanted or wishes.diff), run=wishes)


def _outcome(configuration: Configuration, catalogue: Catalogue, quiet: bool) -> Outcome:
    """What the run gives, without the findings that are old."""
    wishes = configuration.run
    if not (wishes.baseline or wishes.diff_base is not None or wishes.write_baseline or wishes.add_noqa):
        return _run(configuration, catalogue, quiet)
    from tpulint import adoption

    adoption.check_wishes(configuration)
    if wishes.write_baseline:
        return _run(configuration, catalogue, quiet)
    outcome, stale = adoption.run_for_new(
        configuration, catalogue, lambda wanted, old: _run(wanted, catalogue, quiet, old)
    )
    if not quiet and wishes.paths[0] != "-":
        for line in stale:
            say(line)
    return outcome


def _put_on_record(configuration: Configuration, outcome: Outcome, quiet: bool) -> int:
    """Write the baseline, or comments, in place of a report."""
    from tpulint import adoption

    if configuration.run.write_baseline:
        said = adoption.write_baseline(configuration, outcome)
        left = adoption.left_lines(adoption.only_broken(outcome), "cannot be part of a baseline")
    else:
        outcome, said = adoption.add_noqa(configuration, outcome)
        left = adoption.left_lines(outcome, "cannot be silenced by a comment here")
    tell_problems(problems_of(outcome))
    for line in left:
        say(line)
    if not quiet:
        print(said)
    if outcome.problems or any(report.error for report in outcome.reports):
        return FAILED
    return FOUND if left else CLEAN


def _run(configuration: Configuration, catalogue: Catalogue, quiet: bool, old: Marks | None = None) -> Outcome:
    from tpulint import session

    if configuration.run.paths[0] == "-":
        return session.run_text(_standard_input(), configuration, catalogue, old)
    if quiet or not sys.stderr.isatty():
        return session.run(configuration, catalogue, None, old)
    from tpulint.progress import Progress

    with Progress() as progress:
        return session.run(configuration, catalogue, progress.show, old)


def _standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise ConfigError(f"command line: cannot read standard input: {error.strerror or error}") from None


def _show_settings(configuration: Configuration, catalogue: Catalogue) -> None:
    import json

    settings, wishes = configuration.settings, configuration.run
    origins = dict(configuration.origins)
    print(f"# Configuration: {wishes.config_file or 'none found, defaults are used'}")
    print(f"# Rules: {', '.join(rule.code for rule in catalogue.select(settings)) or 'none'}")
    fields: dict[str, object] = {**wishes._asdict(), **settings._asdict()}
    fields["target"] = settings.target.name
    fields["target-version"] = ".".join(map(str, settings.target.version))
    for name, value in fields.items():
        if name in ("paths", "config_file", "extended_files"):
            continue
        key = name.replace("_", "-")
        origin = origins.get("rules" if key == "rule-options" else key)
        print(f"{key} = {json.dumps(value, ensure_ascii=False)}{f'  # {origin}' if origin else ''}")


def _show_files(configuration: Configuration) -> int:
    from tpulint.discovery import discover

    found = discover(configuration.run)
    for path in found.files:
        print(os.path.abspath(path))
    tell_problems(found.problems)
    return FAILED if found.problems else CLEAN


def _tell_about(configuration: Configuration, catalogue: Catalogue, outcome: Outcome, seconds: float) -> None:
    rules = len(catalogue.select(configuration.settings))
    say(f"configuration: {configuration.run.config_file or 'none found, defaults are used'}")
    say(f"target: {configuration.settings.target.label}, {rules} of {len(catalogue.rules)} rules enabled")
    say(f"files: {outcome.file_count}, of these {outcome.cached_count} known from an earlier run")
    say(f"time: {seconds:.2f} s")
