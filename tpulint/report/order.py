"""In which order findings are told: by position, or the costliest of all files first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tpulint.config import ORDERS
from tpulint.model import Pace
from tpulint.report.entry import Entry, FileReport

POSITION, COST = ORDERS

_UNKNOWN = ""
_BY_PACE = (
    Pace.STEP.value, Pace.EVALUATION.value, Pace.LOG_INTERVAL.value, Pace.EPOCH.value, _UNKNOWN, Pace.ONCE.value
)  # fmt: skip
_RANKS = {pace: rank for rank, pace in enumerate(_BY_PACE)}


def order_for(output_format: str, wish: str) -> str:
    """The order to use; without a wish, the one that suits the format: GitHub shows the first few annotations only."""
    return wish or (COST if output_format in ("github", "markdown") else POSITION)


def by_cost(reports: Iterable[FileReport], is_old: Callable[[str, Entry], bool] | None = None) -> list[FileReport]:
    """The findings by what they cost, in parts: a file comes as often as findings of others stand between its own.

    Those come last of which ``is_old``, asked with the path of the file, says that they were there before.
    """
    found = [(report, entry) for report in reports for entry in report.entries]
    # stable: what costs the same stays in order of position
    found.sort(key=lambda item: (is_old is not None and is_old(item[0].path, item[1]), _cost(item[1])))
    parts: list[tuple[FileReport, list[Entry]]] = []
    for report, entry in found:
        if parts and parts[-1][0] is report:
            parts[-1][1].append(entry)
        else:
            parts.append((report, [entry]))
    return [report._replace(entries=tuple(entries)) for report, entries in parts]


def files_by_cost(reports: Iterable[FileReport]) -> list[FileReport]:
    """Whole files, the one with the costliest finding first, each with its findings by what they cost."""
    ordered = [report._replace(entries=tuple(sorted(report.entries, key=_cost))) for report in reports]
    return sorted(ordered, key=lambda report: _cost(report.entries[0]) if report.entries else (len(_RANKS), 0, 0))


def _cost(entry: Entry) -> tuple[int, int, int]:
    """Smaller for what costs more: how often it runs, then how bad it is, then how sure that is."""
    return _RANKS.get(entry.pace, _RANKS[_UNKNOWN]), -entry.severity, -entry.certainty
