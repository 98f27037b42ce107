"""Workflow commands that GitHub turns into annotations of a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from tpulint.discovery import Problem
from tpulint.model import Severity
from tpulint.patterns import with_slashes
from tpulint.report.entry import FileReport

_LEVELS = {Severity.INFO: "notice", Severity.WARNING: "warning", Severity.ERROR: "error"}


def render(reports: list[FileReport], problems: Iterable[Problem]) -> Iterator[str]:
    """The report, in pieces."""
    for report in reports:
        file = _in_workspace(report.path)
        for entry in report.entries:
            place = entry.place
            wanted = {"title": f"tpulint ({entry.code})", "file": file, "line": str(place.row)}
            if place.row == place.end_row:
                # GitHub refuses columns for an annotation of several lines.
                wanted |= {"col": str(place.column), "endLine": str(place.end_row), "endColumn": str(place.end_column)}
            else:
                wanted["endLine"] = str(place.end_row)
            properties = ",".join(f"{key}={_escape_property(value)}" for key, value in wanted.items())
            message = f"{file}:{place.row}:{place.column}: {entry.code} {entry.message}"
            if entry.help:
                message += f"\n  help: {entry.help}"
            elif entry.fix is not None:
                message += f"\n  help: {report.fixes[entry.fix].title}"
            yield f"::{_LEVELS[Severity(entry.severity)]} {properties}::{_escape(message)}\n"
    for problem in problems:
        row = f",line={problem.row}" if problem.row else ""
        file = _escape_property(_in_workspace(problem.path))
        yield f"::error title=tpulint,file={file}{row}::{_escape(f'{problem.path}: {problem.message}')}\n"


def _in_workspace(path: str) -> str:
    """The path relative to the checkout: others are not matched with the files of a pull request."""
    workspace = os.path.join(os.path.realpath(os.environ.get("GITHUB_WORKSPACE") or os.getcwd()), "")
    real = os.path.realpath(path)
    return with_slashes(real[len(workspace) :] if real.startswith(workspace) else path)


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
