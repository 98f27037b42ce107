"""What a run found, in the form somebody wants to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tpulint.config import Settings
from tpulint.discovery import Problem
from tpulint.report.entry import Entry, FileReport
from tpulint.report.order import COST, by_cost, files_by_cost, order_for
from tpulint.report.style import Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue

FOR_PEOPLE = ("full", "concise")
"""Formats that end with a summary."""


def render(
    output_format: str,
    reports: Sequence[FileReport],
    problems: Sequence[Problem],
    catalogue: Catalogue,
    settings: Settings,
    style: Style,
    order: str = "",
    is_old: Callable[[str, Entry], bool] | None = None,
) -> Iterator[str]:
    """The findings in one of the output formats and orders, in pieces. See ``by_cost`` for ``is_old``."""
    speaking = [report for report in reports if report.entries]
    if order_for(output_format, order) == COST:
        # JUnit has one suite for each file.
        speaking = files_by_cost(speaking) if output_format == "junit" else by_cost(speaking, is_old)
    required = settings.required_applicability
    if output_format == "full":
        from tpulint.report import full

        yield from full.render(speaking, catalogue, style, required)
    elif output_format == "concise":
        from tpulint.report import concise

        yield from concise.render(speaking, style, required)
    elif output_format == "github":
        from tpulint.report import github

        yield from github.render(speaking, problems)
    elif output_format == "sarif":
        from tpulint.report import sarif

        yield from sarif.render(speaking, problems, catalogue, settings.target)
    elif output_format == "markdown":
        from tpulint.report import markdown

        yield from markdown.render(speaking, problems, catalogue, required)
    elif output_format == "gitlab":
        from tpulint.report import gitlab

        yield from gitlab.render(speaking)
    elif output_format == "junit":
        from tpulint.report import junit

        yield from junit.render(speaking, problems)
    else:
        from tpulint.report import machine

        write = machine.render_list if output_format == "json" else machine.render_lines
        yield from write(speaking, catalogue, settings.target)


def render_statistics(
    output_format: str, reports: Sequence[FileReport], settings: Settings, style: Style
) -> Iterator[str]:
    """The counts by rule, in the output format as far as it has a form for them."""
    from tpulint.report import summary

    required = settings.required_applicability
    if output_format.startswith("json"):
        from tpulint.json_output import serialize

        yield serialize(summary.statistics(reports, required)) + "\n"
    else:
        yield from summary.render_statistics(reports, required, style)
