"""``tpulint report``: from paths to a porting report."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tpulint import session
from tpulint.check_command import CLEAN, FAILED, load_catalogue
from tpulint.check_output import problems_of, tell_problems
from tpulint.config import ConfigError
from tpulint.config_file import load
from tpulint.porting.survey import PortingReport, survey
from tpulint.report.entry import FileReport
from tpulint.report.style import Style, wants_colour
from tpulint.source import SourceFile, UnreadableSource

FORMATS = ("text", "json", "html")


def report(paths: Sequence[str], given: Mapping[str, Any]) -> int:
    """Write the report; the exit status. Raises ``ConfigError``."""
    paths = paths or (".",)
    if "-" in paths:
        raise ConfigError("command line: a porting report needs files, not standard input")
    flags = {"preview": True} if given["preview"] else {}
    plan = _plan(given["plan"], given["output_format"])
    configuration = load(paths, flags, given["configs"], given["isolated"])
    configuration = configuration._replace(settings=configuration.settings._replace(fix=False))
    catalogue = load_catalogue(configuration)
    outcome = session.run(configuration, catalogue)
    problems = problems_of(outcome)
    found = survey(_read(outcome.reports), catalogue, [(problem.path, problem.message) for problem in problems])
    _write(found, plan, given["output_format"], given["output_file"], given["color"], _title(paths))
    tell_problems(problems)
    return FAILED if problems else CLEAN


def _read(reports: Sequence[FileReport]) -> Iterator[tuple[SourceFile, FileReport]]:
    for one in reports:
        if one.error:
            continue
        try:
            with open(one.path, "rb") as stream:
                yield SourceFile.from_bytes(stream.read(), one.path), one
        except (OSError, UnreadableSource):
            continue  # gone since it was linted


def _plan(path: str, output_format: str) -> list[str]:
    """The section about a plan; read first, so that a wrong file ends the run before anything is linted."""
    if not path:
        return []
    if output_format != "html":
        raise ConfigError("--plan is for --output-format html")
    from tpulint.porting.plan_section import load_plan, render_plan

    return list(render_plan(load_plan(path), path))


def _title(paths: Sequence[str]) -> str:
    names = [os.path.basename(os.path.abspath(path)) for path in paths]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _write(
    found: PortingReport, plan: Sequence[str], output_format: str, output_file: str, colour: str, title: str
) -> None:
    def pieces(style: Style) -> Iterator[str]:
        if output_format == "json":
            from tpulint.json_output import serialize
            from tpulint.porting.data import as_data

            yield serialize(as_data(found)) + "\n"
        elif output_format == "html":
            from tpulint.porting.page import render as render_page

            yield from render_page(found, title, plan)
        else:
            from tpulint.porting.text import render as render_text

            yield from render_text(found, style)

    if not output_file:
        sys.stdout.writelines(pieces(Style(wants_colour(colour, sys.stdout))))
        return
    try:
        with open(output_file, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.writelines(pieces(Style(wants_colour(colour, stream))))
    except OSError as error:
        raise ConfigError(f"command line: cannot write {output_file}: {error.strerror or error}") from None
