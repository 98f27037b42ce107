"""Cuts: the text that goes, that is replaced or loses indentation, until it is known to fit together."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

from tpulint.model import Span

TYPE_CHECKING = False
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
        self._gone: tuple[tuple[int, int, int], Cover] | None = None

    def cut(self, start: int, end: int) -> None:
        """Take out a span."""
        self.spans.append(Span(start, end))

    def drops(self, span: Span) -> bool:
        """Whether a span lies in text that goes."""
        state = (len(self.spans), len(self.dropped), len(self.deleted))
        if self._gone is None or self._gone[0] != state:
            self._gone = (state, Cover((*self.spans, *self.dropped, *map(self._index.span, self.deleted))))
        return self._gone[1].holds(span)

    def write(self, fix: FixBuilder) -> None:
        """Add the edits to a fix."""
        if not self.possible:
            fix.give_up()
            return
        outermost = self._outermost()
        for span in outermost:
            fix.replace(span, "")
        replaced = Cover(span for span, _ in self.replacements)
        for span, text in dict.fromkeys(self.replacements):
            if not replaced.holds_with_more(span) and not self.drops(span):
                fix.replace(span, text)
        cut = Cover((*outermost, *self.dropped))
        deleted = set(self.deleted)
        for statement in dict.fromkeys(self.deleted):
            with_other = any(ancestor in deleted for ancestor in self._index.tree.ancestors(statement))
            if not with_other and not cut.holds(self._index.span(statement)):
                fix.delete(statement, self._indent_of(statement))
        text = self._index.source.text
        for span, new in self.changes:
            # A row that goes, or whose start does, needs no other indentation.
            if not (text[span.start : span.end] + new).isspace() or not fix.covers(span):
                fix.replace(span, new)

    def _outermost(self) -> list[Span]:
        """Cuts that are no part of a wider edit; those that overlap at a border become one."""
        edits = Cover((*self.spans, *(span for span, _ in self.replacements), *map(self._index.span, self.deleted)))
        dropped = Cover(self.dropped)
        merged: list[Span] = []
        for span in sorted(dict.fromkeys(self.spans)):
            if edits.holds_with_more(span) or dropped.holds(span):
                continue
            if merged and span.start < merged[-1].end:
                merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
            else:
                merged.append(span)
        return merged

    def _indent_of(self, statement: ast.stmt) -> str | None:
        """The indentation that a statement's row will have; None where nothing changes it."""
        source, start = self._index.source, self._index.tree.start(statement)
        row_start = source.line_start(start)
        for span, new in self.changes:
            if row_start <= span.start < span.end <= start:
                return source.text[row_start : span.start] + new + source.text[span.end : start]
        return None


class Cover:
    """Spans that may overlap, asked whether one of them holds another span."""

    def __init__(self, spans: Iterable[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [span.start for span in ordered]
        self._furthest = list(accumulate((span.end for span in ordered), max))
        """The largest end of the spans up to each one."""

    def holds(self, span: Span) -> bool:
        """Whether one of the spans holds this one, or is equal to it."""
        at = bisect_right(self._starts, span.start)
        return at > 0 and self._furthest[at - 1] >= span.end

    def holds_with_more(self, span: Span) -> bool:
        """Whether one of the spans holds this one and is wider."""
        at, equal = bisect_left(self._starts, span.start), bisect_right(self._starts, span.start)
        return (at > 0 and self._furthest[at - 1] >= span.end) or (equal > 0 and self._furthest[equal - 1] > span.end)
