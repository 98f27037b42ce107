"""The porting report as one HTML page that needs nothing else: no script, no font, no request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from tpulint import __version__
from tpulint.model import Severity
from tpulint.porting.plan_section import STYLE as PLAN_STYLE
from tpulint.porting.survey import FilePort, PortingReport, Way, way_of
from tpulint.porting.words import ESTIMATE, costs, count, effort
from tpulint.report.entry import Entry, in_cell
from tpulint.report.style import printable

_NAMES = {Way.AS_IS: "as-is", Way.SAFE: "safe", Way.REVIEWED: "reviewed", Way.BY_HAND: "by-hand"}
"""Classes of the style sheet."""
_OPEN_FILES = 3
"""Files whose findings are unfolded when the page is opened."""
_LONGEST_FIX = 60
"""Lines of a fix that are shown."""
_STYLE = """
:root { color-scheme: light dark; --text: #1d2330; --soft: #5b6475; --line: #dfe3ea; --back: #f6f7f9; --card: #fff;
  --as-is: #2e9e5b; --safe: #2b7fd4; --reviewed: #d98a12; --by-hand: #d0463b; --code: #f0f2f5; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ef; --soft: #9aa4b5; --line: #333b49; --back: #14181f;
  --card: #1c222c; --code: #242b37; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.25rem 0 .75rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; }
.card b { display: block; font-size: 1.5rem; line-height: 1.3; }
.bar { display: flex; height: 1.1rem; border-radius: .55rem; overflow: hidden; background: var(--line); }
.bar i { display: block; }
.as-is { background: var(--as-is); } .safe { background: var(--safe); }
.reviewed { background: var(--reviewed); } .by-hand { background: var(--by-hand); }
.dot { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%; margin-right: .45rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); }
th, td { text-align: left; padding: .4rem .7rem; border-top: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; border-top: 0; } .number { text-align: right; white-space: nowrap; }
code, pre { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--code); border-radius: .4rem; padding: .5rem .7rem; margin: .4rem 0; overflow-x: auto; }
ins, del { text-decoration: none; display: block; }
ins { background: color-mix(in srgb, var(--as-is) 22%, transparent); }
del { background: color-mix(in srgb, var(--by-hand) 20%, transparent); }
mark { background: color-mix(in srgb, var(--reviewed) 35%, transparent); color: inherit; }
details { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin: .5rem 0; }
summary { cursor: pointer; padding: .55rem .9rem; display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
summary > :first-child { flex: 1 1 20rem; overflow-wrap: anywhere; }
.finding { padding: .7rem .9rem; border-top: 1px solid var(--line); }
.tag { border: 1px solid var(--line); border-radius: 1rem; padding: .05rem .55rem; font-size: .85em;
  white-space: nowrap; }
.error { color: var(--by-hand); } .warning { color: var(--reviewed); } .info { color: var(--safe); }
@media print { details { break-inside: avoid; } body { background: none; } }
"""


def render(report: PortingReport, title: str, plan: Iterable[str] = ()) -> Iterator[str]:
    """The page, in pieces; ``plan`` is a section that stands in front of the findings."""
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>Porting report: {_text(title)}</title>\n<style>{_STYLE}{PLAN_STYLE}</style>\n</head>\n"
    yield "<body>\n<main>\n"
    yield f"<h1>Porting report: {_text(title)}</h1>\n"
    lines = sum(file.lines for file in report.files)
    others = f"; {count(report.others, 'other file')} left out" if report.others else ""
    yield f'<p class="soft">{count(len(report.files), "file")} of training code, {count(lines, "line")}{others}</p>\n'
    if report.files:
        yield from _shares(report)
    yield from plan
    yield from _blockers(report)
    yield from _loops(report)
    yield from _rules(report)
    yield from _files(report)
    if report.failed:
        yield "<h2>Files that could not be dealt with</h2>\n<ul>\n"
        yield from (f"<li><code>{_text(path)}</code>: {_text(why)}</li>\n" for path, why in report.failed)
        yield "</ul>\n"
    yield f'<p class="soft">{_text(ESTIMATE)} Made by tpulint {__version__}.</p>\n</main>\n</body>\n</html>\n'


def _shares(report: PortingReport) -> Iterator[str]:
    yield '<div class="cards">\n'
    for way in Way:
        files = sum(file.way is way for file in report.files)
        found = f", {count(report.findings(way), 'finding')}" if way is not Way.AS_IS else ""
        yield (
            f'<div class="card"><span class="dot {_NAMES[way]}"></span>{way.value}<b>{report.share(way):.0%}</b>'
            f'<span class="soft">{count(files, "file")}{found}</span></div>\n'
        )
    yield f'<div class="card">estimated effort<b>{effort(report.minutes)}</b>'
    yield '<span class="soft">a rule of thumb</span></div>\n</div>\n<div class="bar" role="img" aria-label="shares">\n'
    for way in Way:
        yield f'<i class="{_NAMES[way]}" style="width:{report.share(way):.2%}" title="{way.value}"></i>\n'
    yield "</div>\n"


def _blockers(report: PortingReport) -> Iterator[str]:
    if not report.blockers:
        return
    yield '<h2>In the way</h2>\n<p class="soft">Libraries without a counterpart on a TPU.</p>\n'
    yield '<div class="scroll"><table>\n'
    for one in report.blockers:
        where = f"{_text(one.path)}:{in_cell(one.cell, one.row)}"
        yield f"<tr><td><code>{where}</code></td><td>{_prose(one.message)}</td></tr>\n"
    yield "</table></div>\n"


def _loops(report: PortingReport) -> Iterator[str]:
    rows = [(file, loop) for file in report.files for loop in file.loops]
    if not rows:
        return
    yield '<h2>Step loops</h2>\n<div class="scroll"><table>\n<tr><th>where</th><th>found in each step</th></tr>\n'
    for file, loop in rows:
        where = f"{_text(file.path)}:{in_cell(loop.cell, loop.row)}-{loop.end_row}"
        yield f"<tr><td><code>{where}</code></td><td>{_text(costs(loop))}</td></tr>\n"
    yield "</table></div>\n"


def _rules(report: PortingReport) -> Iterator[str]:
    if not report.rules:
        return
    names = {entry.code: entry.name for file in report.files for entry in file.report.entries}
    yield '<h2>Rules</h2>\n<div class="scroll"><table>\n'
    yield '<tr><th>rule</th><th></th><th class="number">findings</th></tr>\n'
    for code, number in report.rules:
        name = names[code].replace("-", " ")
        yield f'<tr><td>{_text(code)}</td><td>{_text(name)}</td><td class="number">{number}</td></tr>\n'
    yield "</table></div>\n"


def _files(report: PortingReport) -> Iterator[str]:
    wanting = [file for file in report.files if file.report.entries]
    if not wanting:
        return
    yield "<h2>Files, the most work first</h2>\n"
    for number, file in enumerate(wanting):
        yield f"<details{' open' if number < _OPEN_FILES else ''}>\n<summary><span>"
        yield f'<span class="dot {_NAMES[file.way]}"></span><code>{_text(file.path)}</code></span>'
        yield f'<span class="soft">{file.way.value}</span><span class="soft">'
        yield f"{count(len(file.report.entries), 'finding')}</span><span>{effort(file.minutes)}</span></summary>\n"
        for entry in file.report.entries:
            yield from _finding(file, entry)
        yield "</details>\n"


def _finding(file: FilePort, entry: Entry) -> Iterator[str]:
    level = Severity(entry.severity).label
    way = way_of(file.report, entry)
    pace = f'<span class="tag">{entry.pace}</span> ' if entry.pace else ""
    where = entry.place.line if entry.place.cell else f"line {entry.place.row}"
    yield f'<div class="finding"><b class="{level}">{_text(entry.code)}</b> {where} {pace}'
    yield f'<span class="tag"><span class="dot {_NAMES[way]}"></span>{way.value}</span>\n'
    yield f"<p>{_prose(entry.message)}</p>\n"
    if entry.help:
        yield f'<p class="soft">{_prose(entry.help)}</p>\n'
    fix = None if entry.fix is None else file.report.fixes[entry.fix]
    if fix is None:
        yield f"<pre>{''.join(_source(entry))}</pre>\n"
    else:
        yield f'<p class="soft">{_prose(fix.title)}. {_prose(fix.reason)}</p>\n<pre>'
        shown = [line for hunk in fix.hunks for line in hunk]
        for line in shown[:_LONGEST_FIX]:
            tag = {"+": "ins", "-": "del"}.get(line.mark)
            text = f"{line.mark or ' '} {_text(line.text)}"
            yield f"<{tag}>{text}</{tag}>" if tag else f"{text}\n"
        if len(shown) > _LONGEST_FIX:
            yield f"and {count(len(shown) - _LONGEST_FIX, 'more line')}\n"
        yield "</pre>\n"
    yield "</div>\n"


def _source(entry: Entry) -> Iterator[str]:
    for row, line in enumerate(entry.excerpt, entry.first_row):
        text = f"{row:>5}  {_text(line)}\n"
        yield f"<mark>{text}</mark>" if entry.place.row <= row <= entry.place.end_row else text


def _text(text: str) -> str:
    return escape(printable(text))


def _prose(text: str) -> str:
    """Text of a message, with what stands in backticks as code."""
    parts = _text(" ".join(text.split())).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
