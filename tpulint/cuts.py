"""Cuts: the text that goes, that is replaced or loses indentation, until it is known to fit together."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpulint.model import Span

if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex


class Cuts:
    """Edits that may lie inside one another: the widest wins. ``write`` makes disjoint ones of them."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.possible = True
        """False when something stands where it cannot be cut."""
        self.spans: list[Span] = []
        self.replacements: list[tuple[Span, str]] = []
        self.deleted: list[ast.stmt] = []
        self.dropped: list[Span] = []
        """Conditions and branches that go with the statement around them."""
        self.changes: list[tuple[Span, str]] = []
        """What becomes of those statements, and of the indentation of what is left of them."""

    def cut(self, start: int, end: int) -> None:
        """Take out a span."""
        self.spans.append(Span(start, end))

    def drops(self, span: Span) -> bool:
        """Whether a span lies in text that goes."""
        return any(_within(span, gone) for gone in (*self.spans, *self.dropped, *map(self._index.span, self.deleted)))

    def write(self, fix: FixBuilder) -> None:
        """Add the edits to a fix."""
        if not self.possible:
            fix.give_up()
            return
        outermost = self._outermost()
        for span in outermost:
            fix.replace(span, "")
        for span, text in dict.fromkeys(self.replacements):
            wider = any(other != span and _within(span, other) for other, _ in self.replacements)
            if not wider and not self.drops(span):
                fix.replace(span, text)
        for statement in dict.fromkeys(self.deleted):
            gone = any(_within(self._index.span(statement), span) for span in (*outermost, *self.dropped))
            if not gone and not self._goes_with_other(statement):
                fix.delete(statement, self._indent_of(statement))
        text = self._index.source.text
        for span, new in self.changes:
            # A row that goes, or whose start does, needs no other indentation.
            if not (text[span.start : span.end] + new).isspace() or not fix.covers(span):
                fix.replace(span, new)

    def _outermost(self) -> list[Span]:
        """Cuts that are no part of a wider edit; those that overlap at a border become one."""
        edits = [*self.spans, *(span for span, _ in self.replacements), *map(self._index.span, self.deleted)]
        merged: list[Span] = []
        for span in sorted(dict.fromkeys(self.spans)):
            if any(other != span and _within(span, other) for other in edits) or any(
                _within(span, other) for other in self.dropped
            ):
                continue
            if merged and span.start < merged[-1].end:
                merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
            else:
                merged.append(span)
        return merged

    def _indent_of(self, statement: ast.stmt) -> str | None:
        """The indentation that a statement's row will have; None where nothing changes it."""
        source, start = self._index.source, self._index.tree.start(statement)
        row_start = source.line_starts[source.row(start) - 1]
        for span, new in self.changes:
            if row_start <= span.start < span.end <= start:
                return source.text[row_start : span.start] + new + source.text[span.end : start]
        return None

    def _goes_with_other(self, statement: ast.stmt) -> bool:
        return any(other is not statement and self._index.tree.encloses(other, statement) for other in self.deleted)


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
