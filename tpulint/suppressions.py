"""Comments that silence findings, and findings about comments that silence nothing."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from tpulint.comments import comments_of
from tpulint.model import Applicability, Edit, Finding, Fix, Scope, Severity, Span
from tpulint.source import SourceFile

UNUSED = "unused-suppression"
"""Code and name of the findings that ``Suppressions.unused`` gives."""

_CODE = r"[A-Za-z]+[0-9]+(?![\w-])"
_OURS = r"(?i:TPU)(?=\s*(?:[,\#]|\Z))"
"""The prefix of all of our codes, where it is no word of a reason."""
_CODES = rf"(?:{_CODE}|{_OURS})(?:(?:\s*,\s*|\s+)(?:{_CODE}|{_OURS}))*"
_DIRECTIVE = re.compile(
    rf"\#\s*(?:(?i:noqa)(?![\w-])(?:(?P<colon>\s*:)\s*(?P<codes>{_CODES})?)?"
    r"|(?i:tpulint):\s*(?P<verb>ignore-file|ignore-cell|ignore|noqa)(?![\w-])"
    rf"(?:\s*(?P<bracket>\[)(?P<listed>[^\]\#]*)\]|(?P<own_colon>\s*:)\s*(?P<own_codes>{_CODES})?)?)"
)
_MAYBE = re.compile(r"\#[^\S\r\n]*(?:noqa(?P<rest>[^\r\n]*)|tpulint:)", re.IGNORECASE)
_OTHER_CODES = re.compile(rf"\s*:\s*{_CODE}")
_WITHOUT_BRACKETS = re.compile(rf"\s+{_CODE}")
_SELECTOR = re.compile(r"[\w-]+")
_PREFIX = re.compile(r"(?i:TPU|[A-Z]+[0-9]+)$")
_REASON = re.compile(r"(?:(?![^\S\r\n]+\#[\s:!]*[A-Za-z])[^\r\n])*")
"""What follows the codes, up to another comment on the same line; ``#42`` in a reason is not one."""
_CELL_BORDER = re.compile(r"#\s*(?:%%|In\[)")
_SPACE = re.compile(r"[^\S\r\n]*")


def _may_concern(comment: re.Match[str], letters: frozenset[str], found: bool) -> bool:
    rest = comment["rest"]
    if not found and rest is not None and ":" not in rest:
        return False  # without codes it silences what there is, and is never called unused
    if rest is None or not letters or _OTHER_CODES.match(rest) is None:
        return True
    return any(word in rest.upper() for word in letters)


class Suppression:
    """One comment, or part of one, that silences findings."""

    __slots__ = ("blanket", "codes_span", "of_cell", "of_file", "ours", "row", "selectors", "span", "used")

    def __init__(
        self, span: Span, row: int, codes_span: Span, selectors: tuple[str, ...], of_file: bool, ours: bool
    ) -> None:
        self.span = span
        """From the ``#`` to the end of the codes; a reason behind them is not part of it."""
        self.row = row
        self.codes_span = codes_span
        self.selectors = selectors
        """Codes, prefixes of codes and names, as written."""
        self.blanket = not selectors
        """Whether it names no code and silences every rule."""
        self.of_file = of_file
        self.of_cell = False
        """Whether it speaks for all of its cell: of a notebook, or of a script with lines such as ``# %%``."""
        self.ours = ours
        """Whether it is written for tpulint alone (``# tpulint: ...``); ``# noqa`` is shared with other tools."""
        self.used: set[str] = set()
        """Selectors that silenced something; for a blanket one holds ``""``."""

    def silence(self, finding: Finding) -> bool:
        """Whether the finding is silenced; remembers that this comment was needed."""
        if self.blanket:
            self.used.add("")
            return True
        matching = [selector for selector in self.selectors if _matches(selector, finding.code, finding.name)]
        self.used.update(matching)
        return bool(matching)


class Suppressions:
    """Every suppression of one file, and which of them were needed."""

    __slots__ = ("_file_wide", "_line_rows", "_line_wide", "_source", "_suppressions")

    def __init__(self, source: SourceFile, suppressions: list[Suppression]) -> None:
        self._source = source
        self._suppressions = suppressions
        self._file_wide = [suppression for suppression in suppressions if suppression.of_file]
        of_lines = [(index, one) for index, one in enumerate(suppressions) if not one.of_file]
        covered = sorted((row, index) for index, one in of_lines for row in _covered_rows(source, one))
        self._line_rows = [row for row, _ in covered]
        self._line_wide = [suppressions[index] for _, index in covered]

    @classmethod
    def scan(cls, source: SourceFile, letters: frozenset[str] = frozenset(), found: bool = True) -> Suppressions:
        """Find the suppressions of a file. Text inside strings never counts.

        ``letters`` are those that the codes of all rules begin with. A file whose comments speak to other tools alone
        (``# noqa: E501``) is not worth finding out what is a comment in it, which takes as long as parsing it. Nor is
        one with nothing ``found`` in it for the sake of a plain ``# noqa``.
        """
        if not any(_may_concern(match, letters, found) for match in _MAYBE.finditer(source.text)):
            return cls(source, [])
        return cls(source, [one for span in comments_of(source) for one in _parse(source, span)])

    def __iter__(self) -> Iterator[Suppression]:
        return iter(self._suppressions)

    def filter(self, findings: Iterable[Finding], statement_rows: Callable[[Span], tuple[int, int]]) -> list[Finding]:
        """The findings that no comment silences.

        ``statement_rows`` gives the first and last row of the statement around a span (of its header, for a
        compound statement): a comment counts on each of these rows, or alone on the line above.
        """
        if not self._suppressions:
            return list(findings)
        return [finding for finding in findings if not self._is_silenced(finding, statement_rows)]

    def unused(
        self, enabled: Collection[str], known: Collection[str] = (), existing: Collection[str] = ()
    ) -> list[Finding]:
        """Findings about suppressions that silenced nothing. Ask after ``filter``.

        ``enabled`` holds codes and names of the rules that ran on this file. ``known`` holds the codes of all rules
        that a prefix, or a comment without codes, may have been written for: such a one is only called unused when
        all of these ran, so never while ``known`` is empty.
        """
        if not self._suppressions:
            return []
        ran, meant, real = frozenset(enabled), frozenset(known), frozenset(existing)
        unused = (self._unused_of(suppression, ran, meant, real) for suppression in self._suppressions)
        found = [finding for finding in unused if finding is not None]
        return [finding for finding in found if not self._is_silenced_by_name(finding)]

    def _is_silenced(self, finding: Finding, statement_rows: Callable[[Span], tuple[int, int]]) -> bool:
        silenced = False
        # All of them are asked, so that none is called unused only because another one spoke first.
        for suppression in self._file_wide:
            silenced = suppression.silence(finding) or silenced
        if self._line_rows:
            first, last = statement_rows(finding.span)
            for index in range(bisect_left(self._line_rows, first), bisect_right(self._line_rows, last)):
                silenced = self._line_wide[index].silence(finding) or silenced
        return silenced

    def _is_silenced_by_name(self, finding: Finding) -> bool:
        row = self._source.row(finding.span.start)
        return any(
            UNUSED in suppression.selectors and (suppression.of_file or suppression.row == row)
            for suppression in self._suppressions
        )

    def _unused_of(
        self, suppression: Suppression, enabled: frozenset[str], known: frozenset[str], existing: frozenset[str]
    ) -> Finding | None:
        if suppression.blanket:
            if not suppression.ours or suppression.used or not known or not known <= enabled:
                return None
            return _finding(suppression.span, "suppression hides nothing", _removal(self._source, suppression))
        unused = [
            selector
            for selector in suppression.selectors
            if selector not in suppression.used
            and (_is_answerable(selector, enabled, known) or _means_nothing(selector, existing, ours=suppression.ours))
        ]
        if not unused:
            return None
        listed = ", ".join(f"`{selector}`" for selector in unused)
        kept = [selector for selector in suppression.selectors if selector not in unused]
        edit = _shortening(self._source, suppression, kept) if kept else _removal(self._source, suppression)
        return _finding(suppression.codes_span, f"suppression of {listed} hides nothing", edit)


def _matches(selector: str, code: str, name: str) -> bool:
    if selector in (code, name):
        return True
    return _PREFIX.match(selector) is not None and code.upper().startswith(selector.upper())


def _means_nothing(selector: str, existing: frozenset[str], *, ours: bool) -> bool:
    """Whether a selector names no rule at all: a misspelt code. In ``# noqa`` other words belong to other tools."""
    if not existing or (not ours and not selector.upper().startswith("TPU")):
        return False
    return not any(word == selector or word.startswith(selector.upper()) for word in (*existing, UNUSED))


def _is_answerable(selector: str, enabled: frozenset[str], known: frozenset[str]) -> bool:
    """Whether we can tell that a selector without effect is not needed: it is ours, and all it stands for ran."""
    if selector in enabled:
        return True
    if not selector.upper().startswith("TPU"):
        return False
    if selector.upper() in enabled:
        return True
    meant = {code for code in known if code.startswith(selector.upper())}
    return bool(meant) and meant <= enabled


def _parse(source: SourceFile, comment_span: Span) -> Iterator[Suppression]:
    start = comment_span.start
    comment = source.text[start : comment_span.end]
    if not _MAYBE.search(comment):
        return
    row, column = source.position(start)
    alone = not source.line(row)[: column - 1].strip()
    for match in _DIRECTIVE.finditer(comment):
        verb = match["verb"]
        colon, codes, group = (
            (match["bracket"] or match["own_colon"], match["listed"] or match["own_codes"] or "", "own_codes")
            if verb
            else (match["colon"], match["codes"] or "", "codes")
        )
        selectors = tuple(_SELECTOR.findall(codes))
        if not selectors and (colon or comment[match.end() :].lstrip().startswith("[")):
            continue  # "noqa: because", "ignore[TPU101": rather show a finding too many than hide them all
        if verb and not selectors and _WITHOUT_BRACKETS.match(comment, match.end()):
            continue  # "ignore TPU101" means one rule, not all of them
        if match["listed"] is not None:
            group = "listed"
        codes_span = Span(start + match.start(group), start + match.end(group)) if selectors else Span(0, 0)
        of_file = verb == "ignore-file" or (verb == "noqa" and alone)
        span = Span(start + match.start(), start + match.end())
        suppression = Suppression(span, row, codes_span, selectors, of_file, verb is not None)
        suppression.of_cell = verb == "ignore-cell"
        yield suppression


def _covered_rows(source: SourceFile, suppression: Suppression) -> Sequence[int]:
    """Rows whose statement a comment speaks for: its own and, standing alone, that of the code below it."""
    row = suppression.row
    if suppression.of_cell:
        return _rows_of_cell(source, row)
    rows = [row]
    if not source.line(row).lstrip().startswith("#"):
        return rows
    for below in range(row + 1, source.cell_rows(row)[1] + 1):
        text = source.line(below).strip()
        if not text.startswith("#"):
            if text:
                rows.append(below)
            break
    return rows


def _rows_of_cell(source: SourceFile, row: int) -> range:
    first, last = source.cell_rows(row)
    if not source.cell_starts:
        borders = [at for at in range(first, last + 1) if _CELL_BORDER.match(source.line(at))]
        first = max((at for at in borders if at <= row), default=first)
        last = min((at for at in borders if at > row), default=last + 1) - 1
    return range(first, last + 1)


def _finding(span: Span, message: str, edit: Edit) -> Finding:
    reason = "A comment does not change what runs."
    fix = Fix("Remove the unused suppression", (edit,), (), Applicability.SAFE, reason, Scope.EXPRESSION)
    return Finding(UNUSED, UNUSED, span, message, Severity.WARNING, fix=fix)


def _shortening(source: SourceFile, suppression: Suppression, kept: list[str]) -> Edit:
    """Write the codes that stay, separated as they were."""
    written = source.text[suppression.codes_span.start : suppression.codes_span.end]
    separator = ", " if re.search(r",\s", written) else "," if "," in written else " "
    return Edit(suppression.codes_span, separator.join(kept))


def _removal(source: SourceFile, suppression: Suppression) -> Edit:
    """Take the comment out with its reason; another comment behind it stays, a line that held nothing else goes."""
    text = source.text
    start, end = suppression.span
    end = _skip(_REASON, text, end)
    next_comment = _skip(_SPACE, text, end)
    if text[next_comment : next_comment + 1] == "#":
        return Edit(Span(start, next_comment), "")
    line_start = source.offset(suppression.row, 1)
    code = text[line_start:start].rstrip()
    if code:
        return Edit(Span(line_start + len(code), end), "")
    if suppression.row < source.row_count:
        return Edit(Span(line_start, source.offset(suppression.row + 1, 1)), "")
    return Edit(Span(line_start, end), "")


def _skip(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match else offset
