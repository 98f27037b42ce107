"""JUnit's XML, which most CI servers show as failed tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from tpulint.discovery import Problem
from tpulint.report.entry import FileReport


def render(reports: list[FileReport], problems: Iterable[Problem]) -> Iterator[str]:
    """The report, in pieces: one suite for each file with findings, one test for each finding."""
    broken = list(problems)
    count = sum(len(report.entries) for report in reports)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="tpulint" tests="{count + len(broken) or 1}" failures="{count}" errors="{len(broken)}">\n'
    for report in reports:
        yield f'  <testsuite name={_attribute(report.path)} tests="{len(report.entries)}" '
        yield f'failures="{len(report.entries)}" errors="0" package="tpulint">\n'
        for entry in report.entries:
            cell = f"cell {entry.place.cell}, " if entry.place.cell else ""
            place = f"{cell}line {entry.place.row}, column {entry.place.column}"
            yield f"    <testcase name={_attribute(f'{entry.code} {place}')} classname={_attribute(report.path)} "
            yield f'line="{entry.place.file_row}" column="{entry.place.column}">\n'
            yield f"      <failure message={_attribute(entry.message)}>{_text(f'{place}: {entry.message}')}</failure>\n"
            yield "    </testcase>\n"
        yield "  </testsuite>\n"
    for problem in broken:
        yield f'  <testsuite name={_attribute(problem.path)} tests="1" failures="0" errors="1" package="tpulint">\n'
        yield f'    <testcase name="tpulint" classname={_attribute(problem.path)}>\n'
        yield f"      <error message={_attribute(problem.message)}/>\n    </testcase>\n  </testsuite>\n"
    if not count and not broken:
        # Some servers take a report without tests for a failure.
        yield '  <testsuite name="tpulint" tests="1" failures="0" errors="0" package="tpulint">\n'
        yield '    <testcase name="no findings" classname="tpulint"/>\n  </testsuite>\n'
    yield "</testsuites>\n"


def _text(text: str) -> str:
    return escape(_printable(text))


def _attribute(text: str) -> str:
    return quoteattr(_printable(text))


def _printable(text: str) -> str:
    """XML has no way to write control characters and lone surrogates."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)
