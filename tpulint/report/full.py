"""The report for people: each finding with its place in the code, the reason and the cure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Applicability, Pace, Severity
from tpulint.report.concise import marker
from tpulint.report.entry import Entry, FileReport, FixEntry
from tpulint.report.style import Style, name, printable, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|\n\s*\n")
_LONGEST_LINE = 180
_LONGEST_FIX = 40
"""Lines of a fix that are shown; the whole of it is in ``--diff``."""


def render(reports: list[FileReport], catalogue: Catalogue, style: Style, required: Applicability) -> Iterator[str]:
    """The report, in pieces."""
    shown: dict[tuple[str, int], Entry] = {}
    for report in reports:
        for entry in report.entries:
            yield "\n".join(_entry(report, entry, catalogue, style, required, shown)) + "\n\n"


def first_sentence(text: str) -> str:
    """The first sentence of a card's prose, on one line."""
    return " ".join(_SENTENCE_END.split(text.strip(), maxsplit=1)[0].split())


def _entry(
    report: FileReport,
    entry: Entry,
    catalogue: Catalogue,
    style: Style,
    required: Applicability,
    shown: dict[tuple[str, int], Entry],
) -> Iterator[str]:
    look = Severity(entry.severity).label
    place = entry.place
    fix = None if entry.fix is None else report.fixes[entry.fix]
    mark = f" {style.paint(marker(fix, required), 'cyan')}" if marker(fix, required) else ""
    message = style.paint(printable(entry.message), "bold")
    yield f"{style.paint(entry.code, look)} {style.paint(f'[{look}]', look)}{mark} {message}"
    gutter = len(str(max(entry.first_row + len(entry.excerpt), *(where.row for where, _ in entry.related), 1)))
    bar = style.paint("|", "blue")
    often = f" ({entry.pace})" if entry.pace not in ("", Pace.ONCE.value) else ""
    yield f"{' ' * gutter}{style.paint('-->', 'blue')} {name(report.path)}:{place.start}{often}"
    if entry.excerpt:
        yield f"{' ' * gutter} {bar}"
        for number, line in enumerate(entry.excerpt):
            row = entry.first_row + number
            yield from _source_line(row, line, entry, gutter, bar, style, look)
        yield f"{' ' * gutter} {bar}"
    for where, text in entry.related:
        yield f"{' ' * gutter} {style.paint('=', 'blue')} {where.start}: {printable(text)}"
    rule = catalogue.get(entry.code)
    if rule is not None:
        yield f"{style.paint('why', 'cyan')}: {first_sentence(rule.why)}"
    advice = entry.help or (rule.advice if rule is not None and fix is None else "")
    if advice:
        yield f"{style.paint('help', 'cyan')}: {' '.join(advice.split())}"
    if fix is not None and entry.fix is not None:
        yield from _fix(fix, shown.setdefault((report.path, entry.fix), entry), entry, bar, style)


def _source_line(row: int, line: str, entry: Entry, gutter: int, bar: str, style: Style, look: str) -> Iterator[str]:
    place = entry.place
    start = place.column - 1 if row == place.row else 0
    left = max(0, start - _LONGEST_LINE // 2) if len(line) > _LONGEST_LINE else 0
    text = printable(line[left : left + _LONGEST_LINE])
    yield f"{style.paint(str(row).rjust(gutter), 'blue')} {bar} {text}".rstrip()
    if not place.row <= row <= place.end_row:
        return
    end = place.end_column - 1 if row == place.end_row else len(line)
    if row > place.row:
        start = len(line) - len(line.lstrip())
    if end <= start and row > place.row:
        return
    before = width(printable(line[left:start]))
    length = max(1, width(printable(line[start : min(end, left + _LONGEST_LINE)])))
    yield f"{' ' * gutter} {bar} {' ' * before}{style.paint('^' * length, look)}"


def _fix(fix: FixEntry, first: Entry, entry: Entry, bar: str, style: Style) -> Iterator[str]:
    applicability = Applicability(fix.applicability)
    reason = f" - {' '.join(fix.reason.split())}" if fix.reason else ""
    yield f"{style.paint('fix', 'cyan')} ({applicability.label}): {fix.title}{reason}"
    if first is not entry:
        yield f"  the fix is shown at {first.place.start}"
        return
    lines = [line for hunk in fix.hunks for line in hunk]
    gutter = len(str(max((line.row for line in lines), default=0)))
    left = _LONGEST_FIX
    cell = 0
    for number, hunk in enumerate(fix.hunks):
        if hunk and hunk[0].cell != cell:
            cell, number = hunk[0].cell, 0
            yield f"{' ' * gutter}{style.paint(':::', 'blue')} cell {cell}"
        yield f"{' ' * gutter} {bar}" if not number else f"{' ' * gutter} {style.paint(':', 'blue')}"
        for line in hunk[:left]:
            look = {"-": "red", "+": "green"}.get(line.mark, "")
            text = f"{line.mark} {printable(line.text[:_LONGEST_LINE])}".rstrip()
            text = style.paint(text, look) if look else text
            yield f"{style.paint(str(line.row).rjust(gutter), 'blue')} {bar} {text}".rstrip()
        left -= len(hunk[:left])
        if left <= 0:
            break
    if len(lines) > _LONGEST_FIX:
        yield f"{' ' * gutter} {style.paint(':', 'blue')} {len(lines) - _LONGEST_FIX} more lines; --diff shows all"
    yield f"{' ' * gutter} {bar}"
