"""The lines below a report: how many findings, what was fixed, what could be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tpulint.model import Applicability
from tpulint.report.entry import FileReport
from tpulint.report.style import Style, name


class Tally:
    """The counts of a run."""

    def __init__(self, reports: Iterable[FileReport], required: Applicability) -> None:
        self.remaining = self.fixed = self.fixable = self.unsafe = 0
        self.required = required
        for report in reports:
            self.remaining += len(report.entries)
            self.fixed += len(report.fixed)
            for entry in report.entries:
                applicability = None if entry.fix is None else report.fixes[entry.fix].applicability
                if applicability is None:
                    continue
                self.fixable += applicability >= required
                self.unsafe += required > applicability == Applicability.UNSAFE


def render(tally: Tally) -> Iterator[str]:
    """The summary of a report."""
    total = tally.fixed + tally.remaining
    if tally.fixed:
        yield f"Found {_count(total, 'error')} ({tally.fixed} fixed, {tally.remaining} remaining).\n"
    elif total:
        yield f"Found {_count(total, 'error')}.\n"
    else:
        yield "All checks passed!\n"
    if tally.fixable:
        more = f" ({tally.unsafe} more with `--unsafe-fixes`)" if tally.unsafe else ""
        yield f"[*] {tally.fixable} fixable with `--fix`{more}.\n"
    elif tally.unsafe:
        yield f"{tally.unsafe} fixable with `--fix --unsafe-fixes`.\n"


def render_diff(tally: Tally) -> str:
    """The summary of ``--diff``."""
    more = f" ({tally.unsafe} more with `--unsafe-fixes`)" if tally.unsafe else ""
    if tally.fixed:
        return f"Would fix {_count(tally.fixed, 'error')}{more}.\n"
    return f"No errors would be fixed{more}.\n"


def render_fix_only(tally: Tally) -> str:
    """The summary of ``--fix-only``."""
    return f"Fixed {_count(tally.fixed, 'error')}.\n" if tally.fixed else "No errors fixed.\n"


def render_fixed(reports: Iterable[FileReport], style: Style, would: bool = False) -> Iterator[str]:
    """What was fixed, by file and rule."""
    fixed = [report for report in reports if report.fixed]
    if not fixed:
        return
    total = sum(len(report.fixed) for report in fixed)
    yield f"{'Would fix' if would else 'Fixed'} {_count(total, 'error')}:\n"
    for report in fixed:
        yield f"- {style.paint(name(report.path), 'bold')}:\n"
        for (code, rule), count in sorted(Counter(report.fixed).items()):
            yield f"    {count} x {style.paint(code, 'error')} ({rule})\n"


def render_statistics(reports: Iterable[FileReport], required: Applicability, style: Style) -> Iterator[str]:
    """Findings by rule, the most frequent first."""
    rows = statistics(reports, required)
    width = max((len(str(row["count"])) for row in rows), default=0)
    codes = max((len(str(row["code"])) for row in rows), default=0)
    for row in rows:
        mark = "[*]" if row["fixable"] else "[-]" if row["fixable_count"] else "[ ]"
        code = str(row["code"])
        yield f"{str(row['count']).rjust(width)}\t{style.paint(code.ljust(codes), 'error')}\t{mark} {row['name']}\n"


def statistics(reports: Iterable[FileReport], required: Applicability) -> list[dict[str, object]]:
    """The same as plain data."""
    counts: Counter[tuple[str, str]] = Counter()
    fixable: Counter[tuple[str, str]] = Counter()
    for report in reports:
        for entry in report.entries:
            key = (entry.code, entry.name)
            counts[key] += 1
            if entry.fix is not None and report.fixes[entry.fix].applicability >= required:
                fixable[key] += 1
    return [
        {
            "code": code,
            "name": rule,
            "count": count,
            "fixable": fixable[code, rule] == count,
            "fixable_count": fixable[code, rule],
        }
        for (code, rule), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
