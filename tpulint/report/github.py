"""Workflow commands that GitHub turns into annotations of a pull request.

Of each level it shows ten a step: the rest is in the summary of the step, if there is one.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from tpulint.discovery import Problem
from tpulint.model import Severity
from tpulint.patterns import with_slashes
from tpulint.report.entry import FileReport
from tpulint.report.style import name

_SHOWN = 10
"""Annotations of a level that GitHub shows."""
_CONTROL = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LEVELS = {Severity.INFO: "notice", Severity.WARNING: "warning", Severity.ERROR: "error"}


def render(reports: list[FileReport], problems: Iterable[Problem]) -> Iterator[str]:
    """The report, in pieces."""
    for report in reports:
        file = in_workspace(report.path)
        for entry in report.entries:
            place = entry.place
            wanted = {"title": f"tpulint ({entry.code})", "file": file, "line": str(place.file_row)}
            if place.cell:
                wanted["endLine"] = str(place.file_end_row)  # columns of the cell are not those of its JSON
            elif place.row == place.end_row:
                # GitHub refuses columns for an annotation of several lines.
                wanted |= {"col": str(place.column), "endLine": str(place.end_row), "endColumn": str(place.end_column)}
            else:
                wanted["endLine"] = str(place.end_row)
            properties = ",".join(f"{key}={_escape_property(value)}" for key, value in wanted.items())
            message = f"{name(file)}:{place.start}: {entry.code} {entry.message}"
            if entry.help:
                message += f"\n  help: {entry.help}"
            elif entry.fix is not None:
                message += f"\n  help: {report.fixes[entry.fix].title}"
            yield f"::{_LEVELS[Severity(entry.severity)]} {properties}::{_escape(message)}\n"
    levels = Counter(entry.severity for report in reports for entry in report.entries)
    if any(count > _SHOWN for count in levels.values()):
        where = "the summary of this step has more" if os.environ.get("GITHUB_STEP_SUMMARY") else "the log has all"
        yield f"::notice title=tpulint::{sum(levels.values())} findings; GitHub shows {_SHOWN} of a level, {where}\n"
    for problem in problems:
        row = f",line={problem.row}" if problem.row else ""
        file = _escape_property(in_workspace(problem.path))
        yield f"::error title=tpulint,file={file}{row}::{_escape(name(f'{problem.path}: {problem.message}'))}\n"


def in_workspace(path: str) -> str:
    """The path relative to the checkout: others are not matched with the files of a pull request."""
    return below(os.environ.get("GITHUB_WORKSPACE"), path)


def below(checkout: str | None, path: str) -> str:
    """The path relative to a checkout, or to the working directory without one; as it is where it lies outside."""
    folder = os.path.join(os.path.realpath(checkout or os.getcwd()), "")
    above, last = os.path.split(path)
    real = os.path.realpath(path) if os.path.exists(path) else os.path.join(os.path.realpath(above), last)
    return with_slashes(real[len(folder) :] if real.startswith(folder) else path)


def without_surrogates(path: str) -> str:
    """The path as UTF-8 can hold it: bytes that are none are written as escapes."""
    return path.encode(errors="backslashreplace").decode()


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return (
        _escape(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", without_surrogates(text)))
        .replace(":", "%3A")
        .replace(",", "%2C")
    )
