"""What is special about the findings of a notebook: fixes keep to their cells and leave magics as they are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from tpulint.model import Applicability, Edit, Finding, Fix, Span
from tpulint.notebooks.shell_lines import ShellLines
from tpulint.notebooks.source import NotebookSource
from tpulint.source import SourceFile

_BROKEN = "A cell of the notebook is not valid Python: what it does with the rest is not known."
_SIGN = re.compile(r"(?:!!?|%)?(?:(?:set_)?env[ \t]+|(?:sx|system)[ \t]+)?[ \t]*\Z")
"""What stands in front of a shell command and goes together with it."""


def of_cells(
    findings: Sequence[Finding], source: SourceFile, in_shell: Callable[[ShellLines], Sequence[Finding]]
) -> tuple[list[Finding], ShellLines | None]:
    """All findings of a notebook, of those in its Python code and of ``in_shell``, which looks at its shell text."""
    assert isinstance(source, NotebookSource)
    confined = _confined(findings, source)
    if not source.shell_stretches:
        return confined, None
    lines = ShellLines(source)
    return [*confined, *_confined_in_shell(in_shell(lines), source, lines.source.text)], lines


def with_broken_cells(findings: Sequence[Finding], source: SourceFile) -> list[Finding]:
    """The findings with those of cells that Python cannot read. Where there are any, fixes are only shown."""
    assert isinstance(source, NotebookSource)
    if not source.broken:
        return list(findings)
    from tpulint.linter import invalid_syntax

    shown: dict[int, Fix] = {}
    kept = []
    for finding in findings:
        fix = finding.fix
        if fix is not None and fix.applicability is not Applicability.DISPLAY:
            fix = shown.setdefault(id(fix), fix._replace(applicability=Applicability.DISPLAY, reason=_BROKEN))
        kept.append(finding._replace(fix=fix))
    return [*kept, *(invalid_syntax(Span(one.offset, one.offset), one.message) for one in source.broken)]


def _confined(findings: Sequence[Finding], notebook: NotebookSource) -> list[Finding]:
    """The findings of Python code, without the fixes that cross the border of a cell or lose a magic."""
    magics = [notebook.text[span.start : span.end] for span in notebook.magics]
    places = dict(zip(notebook.magics, magics, strict=True))
    memo: dict[int, Fix | None] = {}

    def checked(fix: Fix) -> Fix | None:
        within = _within_cells(fix, notebook)
        if within is None:
            return None
        if any(_is_above_cell_magic(edit, notebook, places) for edit in within.edits):
            return None
        written = "".join(edit.text for edit in within.edits)
        touched = [
            text
            for span, text in places.items()
            if any(span.start < edit.span.end and edit.span.start < span.end for edit in within.edits)
        ]
        return within if all(text in written for text in touched) else None

    return [_with(finding, memo, checked) for finding in findings]


def _is_above_cell_magic(edit: Edit, notebook: NotebookSource, magics: Mapping[Span, str]) -> bool:
    """Whether something is put in front of a ``%%`` magic, which nothing but comments may precede."""
    _, end = notebook.bounds(bisect_right(notebook.cell_starts, edit.span.start) - 1)
    return bool(edit.text) and any(
        text.startswith("%%") and edit.span.start <= span.start < end for span, text in magics.items()
    )


def _confined_in_shell(findings: Sequence[Finding], notebook: NotebookSource, shell_text: str) -> list[Finding]:
    """The same for findings in shell text: of what stands around it nothing goes but the sign of the magic."""
    memo: dict[int, Fix | None] = {}

    def checked(fix: Fix) -> Fix | None:
        within = _within_cells(fix, notebook)
        if within is None or not all(_is_of_shell(edit, notebook, shell_text) for edit in within.edits):
            return None
        return within

    return [_with(finding, memo, checked) for finding in findings]


def _with(finding: Finding, memo: dict[int, Fix | None], checked: Callable[[Fix], Fix | None]) -> Finding:
    fix = finding.fix
    if fix is None:
        return finding
    if id(fix) not in memo:
        memo[id(fix)] = checked(fix)
    return finding._replace(fix=memo[id(fix)])


def _within_cells(fix: Fix, notebook: NotebookSource) -> Fix | None:
    """The fix, where each edit lies in one cell; blank lines beyond a border stay."""
    edits = []
    for edit in fix.edits:
        _, end = notebook.bounds(bisect_right(notebook.cell_starts, edit.span.start) - 1)
        if edit.span.end > end:
            if edit.text:
                return None
            before, behind = notebook.text[edit.span.start : end], notebook.text[end : edit.span.end]
            if not behind.strip():
                edit = edit._replace(span=Span(edit.span.start, end))
            elif not before.strip():
                edit = edit._replace(span=Span(end, edit.span.end))
            else:
                return None
        edits.append(edit)
    if any(left.span.end > right.span.start for left, right in pairwise(edits)):
        return None
    return fix._replace(edits=tuple(edits))


def _is_of_shell(edit: Edit, notebook: NotebookSource, shell_text: str) -> bool:
    start, end = edit.span
    real = notebook.text[start:end]
    if real == shell_text[start:end]:
        return True
    if edit.text:
        return False
    line = notebook.line_start(start)
    lead = len(shell_text[start:end]) - len(shell_text[start:end].lstrip())
    if start != line or real[lead:] != shell_text[start + lead : end]:
        return False
    # A whole line goes. In a block it may be the only statement.
    return not real[:1].isspace() and _SIGN.fullmatch(real[:lead]) is not None
