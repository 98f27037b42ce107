"""What has to be done to port some files, counted from their findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from tpulint.languages import PYTHON, language_of
from tpulint.model import WORDS_OF_LOOPS, Applicability, Pace, Severity
from tpulint.report.entry import Entry, FileReport

if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.source import SourceFile

_ABOUT_TRAINING = re.compile(r"\b(?:torch|lightning|pytorch_lightning|accelerate|transformers|trl)\b")
_REPEATED = (Pace.STEP.value, Pace.LOG_INTERVAL.value)

REVIEW, BY_HAND, REPLACEMENT = 3, 20, 240
"""Minutes that an unsafe fix, a finding without a fix, and a library without a counterpart are put down with: rules of
thumb, nothing that was measured. A note without a fix counts a quarter."""


class Way(Enum):
    """How something ports. The value is the word in every format; from the easiest to the hardest."""

    AS_IS = "as it is"
    SAFE = "safe fix"
    REVIEWED = "reviewed fix"
    BY_HAND = "by hand"


class Loop(NamedTuple):
    """A step loop, and what runs in each of its steps that costs something."""

    row: int
    end_row: int
    costs: tuple[tuple[str, int], ...]
    """Categories of rules, and how many findings of each."""
    cell: int = 0
    """Number of the cell of a notebook, which the rows are those of; 0 in other files."""


class Blocker(NamedTuple):
    """A library that has no counterpart on a TPU."""

    path: str
    row: int
    message: str
    cell: int = 0
    """Number of the cell of a notebook; 0 in other files."""


class FilePort(NamedTuple):
    """What has to be done in one file."""

    path: str
    lines: int
    way: Way
    ways: dict[Way, int]
    """Findings by what is done about them; ``AS_IS`` never occurs."""
    minutes: int
    loops: tuple[Loop, ...]
    report: FileReport


class PortingReport(NamedTuple):
    """What has to be done in all files."""

    files: tuple[FilePort, ...]
    """Those that train, or help to, by effort."""
    others: int
    """Files that have nothing to do with it."""
    blockers: tuple[Blocker, ...]
    rules: tuple[tuple[str, int], ...]
    """Codes, the most frequent first."""
    failed: tuple[tuple[str, str], ...]
    """Files that could not be dealt with, and why."""

    @property
    def minutes(self) -> int:
        """Estimated effort."""
        return sum(file.minutes for file in self.files)

    def share(self, way: Way, lines: bool = False) -> float:
        """Files (or their lines) that port in this way, of 1."""
        total = sum(file.lines if lines else 1 for file in self.files)
        return sum(file.lines if lines else 1 for file in self.files if file.way is way) / total if total else 0.0

    def findings(self, way: Way) -> int:
        """Findings that are dealt with in this way."""
        return sum(file.ways.get(way, 0) for file in self.files)


def survey(
    found: Iterable[tuple[SourceFile, FileReport]], catalogue: Catalogue, failed: Iterable[tuple[str, str]] = ()
) -> PortingReport:
    """The report about some files, given with what was found in them."""
    files: list[FilePort] = []
    blockers: list[Blocker] = []
    others = 0
    for source, report in found:
        if not report.entries and not _ABOUT_TRAINING.search(source.text):
            others += 1
            continue
        files.append(_port(source, report, catalogue))
        blockers.extend(
            Blocker(report.path, entry.place.row, entry.message, entry.place.cell)
            for entry in report.entries
            if (rule := catalogue.get(entry.code)) is not None and rule.blocks
        )
    counts = Counter(entry.code for file in files for entry in file.report.entries)
    files.sort(key=lambda file: (-file.minutes, file.path))
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return PortingReport(tuple(files), others, tuple(blockers), tuple(by_count), tuple(failed))


def way_of(report: FileReport, entry: Entry) -> Way:
    """What is done about a finding."""
    applicability = None if entry.fix is None else report.fixes[entry.fix].applicability
    if applicability == Applicability.SAFE:
        return Way.SAFE
    return Way.REVIEWED if applicability == Applicability.UNSAFE else Way.BY_HAND


def _port(source: SourceFile, report: FileReport, catalogue: Catalogue) -> FilePort:
    ways = Counter(way_of(report, entry) for entry in report.entries)
    # A note without a fix is worth knowing, and stands in nobody's way.
    order = list(Way)
    weighty = [way_of(report, entry) for entry in report.entries
               if entry.severity != Severity.INFO or way_of(report, entry) is not Way.BY_HAND]  # fmt: skip
    way = max(weighty, key=order.index, default=Way.AS_IS)
    return FilePort(
        report.path, source.row_count, way, dict(ways), round(_minutes(report, catalogue)),
        tuple(_loops(source, report, catalogue)), report,
    )  # fmt: skip


def _minutes(report: FileReport, catalogue: Catalogue) -> float:
    fixes = {entry.fix for entry in report.entries if way_of(report, entry) is Way.REVIEWED}  # some share one
    minutes = float(REVIEW * len(fixes))
    for entry in report.entries:
        if way_of(report, entry) is not Way.BY_HAND:
            continue
        rule = catalogue.get(entry.code)
        weight = 0.25 if entry.severity == Severity.INFO else 1
        minutes += REPLACEMENT if rule is not None and rule.blocks else BY_HAND * weight
    return minutes


def _loops(source: SourceFile, report: FileReport, catalogue: Catalogue) -> Iterator[Loop]:
    if language_of(source.path, source.text) != PYTHON or not source.has_any(WORDS_OF_LOOPS):
        return
    from tpulint.semantic import SemanticIndex

    try:
        index = SemanticIndex(source, source.parse())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    rows = sorted({(step.node.lineno, step.node.end_lineno or step.node.lineno) for step in index.steps})
    index.release()
    for first, last in rows:
        cell, above = source.cell_number(first), source.cell_rows(first)[0] - 1
        inside = [
            entry
            for entry in report.entries
            if entry.place.cell == cell and first <= entry.place.row + above <= last and entry.pace in _REPEATED
        ]
        yield Loop(first - above, last - above, _costs(inside, catalogue), cell)


def _costs(entries: Sequence[Entry], catalogue: Catalogue) -> tuple[tuple[str, int], ...]:
    categories = Counter(rule.category for entry in entries if (rule := catalogue.get(entry.code)) is not None)
    return tuple(categories.most_common())
