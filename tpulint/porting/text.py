"""The porting report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.porting.survey import FilePort, PortingReport, Way
from tpulint.porting.words import ESTIMATE, costs, count, effort
from tpulint.report.entry import in_cell
from tpulint.report.style import Style, name

_WIDTH = 30
_SHOWN_FILES = 40
_LOOKS = {Way.AS_IS: "green", Way.SAFE: "cyan", Way.REVIEWED: "yellow", Way.BY_HAND: "red"}


def render(report: PortingReport, style: Style) -> Iterator[str]:
    """The report, in lines."""
    lines = sum(file.lines for file in report.files)
    others = f"; {count(report.others, 'other file')} left out" if report.others else ""
    head = f"{count(len(report.files), 'file')} of training code, {count(lines, 'line')}{others}"
    yield style.paint(head, "bold") + "\n"
    if not report.files:
        yield "Nothing here imports torch.\n"
    else:
        yield "\n"
        for way in Way:
            yield _bar(report, way, style)
        yield f"\nEstimated effort: {style.paint(effort(report.minutes), 'bold')}. {ESTIMATE}\n"
    if report.blockers:
        yield f"\n{style.paint('In the way', 'bold')}\n"
        for blocker in report.blockers:
            yield f"  {name(blocker.path)}:{in_cell(blocker.cell, blocker.row)}  {blocker.message}\n"
    with_loops = [file for file in report.files if file.loops]
    if with_loops:
        yield f"\n{style.paint('Step loops', 'bold')}, and what is found in each of their steps\n"
        for file in with_loops:
            for loop in file.loops:
                yield f"  {name(file.path)}:{in_cell(loop.cell, loop.row)}  {costs(loop)}\n"
    wanting = [file for file in report.files if file.way is not Way.AS_IS]
    if wanting:
        yield f"\n{style.paint('Files', 'bold')}, the most work first\n"
        yield f"  {'effort':>9} {'safe':>5} {'review':>6} {'hand':>5}  file\n"
        for file in wanting[:_SHOWN_FILES]:
            yield _row(file, style)
        if len(wanting) > _SHOWN_FILES:
            yield f"  and {count(len(wanting) - _SHOWN_FILES, 'more file')}\n"
    for path, why in report.failed:
        yield f"\nerror: {name(path)}: {why}\n"


def _bar(report: PortingReport, way: Way, style: Style) -> str:
    share = report.share(way)
    filled = round(share * _WIDTH)
    files = sum(file.way is way for file in report.files)
    found = f", {count(report.findings(way), 'finding')}" if way is not Way.AS_IS else ""
    bar = style.paint("#" * filled, _LOOKS[way]) + "." * (_WIDTH - filled)
    lines = f"{report.share(way, lines=True):.0%} of the lines"
    return f"  {way.value:<13} {bar} {share:>4.0%}  {count(files, 'file')} ({lines}){found}\n"


def _row(file: FilePort, style: Style) -> str:
    safe, review, hand = (file.ways.get(way, 0) for way in (Way.SAFE, Way.REVIEWED, Way.BY_HAND))
    path = style.paint(name(file.path), _LOOKS[file.way])
    return f"  {effort(file.minutes):>9} {safe:>5} {review:>6} {hand:>5}  {path}\n"
