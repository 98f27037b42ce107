"""The report of a guard as tables, for terminals. Needs rich."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpulint_runtime.report import Events, Report, at, tell_rest

if TYPE_CHECKING:
    from rich.console import Group

_SHOWN = 20
"""Events of a kind."""


def render(report: Report) -> Group:
    """Something that rich prints. Raises ImportError without rich."""
    from rich.console import Group
    from rich.text import Text

    head, *_ = str(report).splitlines()
    parts: list[Any] = [Text(head, style="bold")]
    if report.counted:
        parts.append(_counts(report))
    if report.recompilations:
        parts.append(_recompilations(report))
    if report.host_syncs:
        parts.append(_host_syncs(report))
    return Group(*parts)


def _table(title: str, *columns: str) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in columns:
        # A path is worth most where it is whole: it is never cut off.
        table.add_column(column, overflow="fold", justify="right" if column in ("step", "compilations") else "left")
    return table


def _counts(report: Report) -> Any:
    table = _table("", "", "after warm-up", "budget", "in warm-up")
    for name, count, budget, warm in (
        ("compilations", report.compiles, report.budget, str(report.warmup_compiles)),
        ("host syncs", report.waits, report.sync_budget, ""),
    ):
        exceeds = budget is not None and count > budget
        allowed = "none set" if budget is None else str(budget)
        table.add_row(name, f"[red]{count}[/]" if exceeds else f"[green]{count}[/]", allowed, warm)
    return table


def _recompilations(report: Report) -> Any:
    from rich.text import Text

    table = _table("compilations after warm-up", "step", "compilations", "seconds", "cause", "line")
    for event in report.recompilations[:_SHOWN]:
        line = at(event.line).strip(" ()")
        cause = event.cause.removesuffix(at(event.line)).removesuffix(at(event.line, "used"))
        table.add_row(str(event.step), str(event.compiles), f"{event.seconds:.2f}", Text(cause), Text(line))
    _caption(table, report.recompilations, report.compiles)
    return table


def _host_syncs(report: Report) -> Any:
    from rich.text import Text

    table = _table("host syncs after warm-up", "step", "times", "cause", "line")
    for event in report.host_syncs[:_SHOWN]:
        if not event.calls:
            table.add_row(str(event.step), str(event.waits), Text(event.cause), "")
        for wait in event.calls:
            table.add_row(str(event.step), str(wait.times), Text(wait.call), Text(at(wait.line).strip(" ()")))
    _caption(table, report.host_syncs, report.waits)
    return table


def _caption(table: Any, events: Events, in_all: int) -> None:
    from rich.text import Text

    if len(events) > _SHOWN:
        table.caption = Text(tell_rest(events, _SHOWN, in_all))
