"""A summary in Markdown: what was found by rule, and the costliest findings, for the page of a CI run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from tpulint.discovery import Problem
from tpulint.model import Applicability, Severity
from tpulint.patterns import with_slashes
from tpulint.report.entry import Entry, FileReport
from tpulint.report.style import name
from tpulint.report.summary import statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue

_SPECIAL = re.compile(r"[\\`*_\[\]<>#~&]")
_SHOWN = 50
"""Findings that are listed one by one."""


def render(
    reports: Sequence[FileReport], problems: Sequence[Problem], catalogue: Catalogue, required: Applicability
) -> Iterator[str]:
    """The summary, in pieces; findings in the order they come in."""
    found = [(report, entry) for report in reports for entry in report.entries]
    yield "## tpulint\n\n"
    if not found and not problems:
        yield "All checks passed.\n"
        return
    if found:
        files = len({report.path for report, _ in found})
        counts = [sum(entry.severity == severity for _, entry in found) for severity in reversed(Severity)]
        listed = ", ".join(f"{count} {severity.label}{'s' * (count != 1)}"
                           for count, severity in zip(counts, reversed(Severity), strict=True) if count)  # fmt: skip
        yield f"**{len(found)} finding{'s' * (len(found) != 1)}** in {files} file{'s' * (files != 1)}: {listed}.\n\n"
        yield from _by_rule(reports, catalogue, required)
        yield "\n| place | rule | finding | how often |\n|---|---|---|---|\n"
        for report, entry in found[:_SHOWN]:
            place = _link(report.path, entry)
            yield f"| {place} | {entry.code} | {_cell(entry.message)} | {entry.pace} |\n"
        if len(found) > _SHOWN:
            yield f"\nand {len(found) - _SHOWN} more\n"
    if problems:
        yield "\n### Files that could not be dealt with\n\n"
        for problem in problems:
            row = f":{problem.row}" if problem.row else ""
            yield f"- {_code(with_slashes(problem.path) + row)}: {_cell(problem.message)}\n"


def _by_rule(reports: Sequence[FileReport], catalogue: Catalogue, required: Applicability) -> Iterator[str]:
    yield "| rule | what | findings | fixable |\n|---|---|---:|---:|\n"
    for row in statistics(reports, required):
        rule = catalogue.get(str(row["code"]))
        what = rule.summary if rule is not None else str(row["name"]).replace("-", " ")
        yield f"| {row['code']} | {_cell(what)} | {row['count']} | {row['fixable_count']} |\n"


def _link(path: str, entry: Entry) -> str:
    """The place, and where GitHub says what is checked out, a link to it."""
    from tpulint.report.github import in_workspace

    relative = in_workspace(path)
    shown = _code(f"{relative}:{entry.place.line}").replace("|", "\\|")
    server, repository, revision = (os.environ.get(f"GITHUB_{word}") for word in ("SERVER_URL", "REPOSITORY", "SHA"))
    if not (server and repository and revision):
        return shown
    from urllib.parse import quote

    return f"[{shown}]({server}/{repository}/blob/{revision}/{quote(os.fsencode(relative))}#L{entry.place.file_row})"


def _code(text: str) -> str:
    """A text as code, between more backticks than it holds in a row."""
    text = name(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if text.startswith("`") or text.endswith("`") else f"{fence}{text}{fence}"


def _cell(text: str) -> str:
    """A message on one line: code in its backticks, the rest without meaning for Markdown."""
    parts = name(" ".join(text.split())).split("`")
    if len(parts) % 2 == 0:  # a backtick without its second
        parts[-2:] = ["`".join(parts[-2:])]
    shown = [f"`{part}`" if number % 2 else _SPECIAL.sub(r"\\\g<0>", part) for number, part in enumerate(parts)]
    return "".join(shown).replace("|", "\\|")
