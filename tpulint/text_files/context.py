"""What a rule may touch in a file that is not Python: its index, the target, findings and fixes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from tpulint.model import Applicability, Certainty, Edit, Finding, Fix, Scope, Severity, Span
from tpulint.targets import Target
from tpulint.text_files import TextIndex
from tpulint.text_files.words import Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.rule import Rule

_BLANK_BEFORE = re.compile(r"(?:[ \t]|\\[ \t]*\r?\n)*\Z")
_BLANK_BEHIND = re.compile(r"(?:[ \t]|\\[ \t]*\r?\n)*")
_LONGEST_GAP = 400


class TextContext:
    """The whole rule API for one file and one rule."""

    __slots__ = ("index", "options", "portable", "rule", "source", "target")

    def __init__(
        self,
        index: TextIndex,
        rule: Rule,
        target: Target,
        options: Mapping[str, object],
        *,
        portable: bool = False,
    ) -> None:
        self.index = index
        self.source = index.source
        self.rule = rule
        self.target = target
        self.options = options
        self.portable = portable

    def finding(
        self,
        span: Span,
        message: str,
        fix: TextFix | None = None,
        *,
        severity: Severity | None = None,
        certainty: Certainty = Certainty.CERTAIN,
        help: str = "",
    ) -> Finding:
        """One place this rule speaks about. A fix that turned out impossible gives a finding without one."""
        return Finding(
            self.rule.code,
            self.rule.name,
            span,
            message,
            self.rule.severity if severity is None else severity,
            certainty,
            None if fix is None else fix.build(),
            help,
        )

    def fix(self, title: str, applicability: Applicability, reason: str) -> TextFix:
        """A new, empty fix."""
        return TextFix(self.index, title, applicability, reason)


class TextFix:
    """Collects the edits of one fix. What cannot be expressed makes the whole fix impossible."""

    def __init__(self, index: TextIndex, title: str, applicability: Applicability, reason: str) -> None:
        self._index = index
        self.title = title
        self.applicability = applicability
        self.reason = reason
        self.possible = True
        """False once an edit could not be expressed."""
        self._edits: list[Edit] = []

    def give_up(self) -> None:
        """Make the fix impossible: a part of it cannot be proved."""
        self.possible = False

    def replace(self, span: Span, text: str) -> None:
        """Put ``text`` where a span stands."""
        self._edits.append(Edit(span, text))

    def delete_word(self, span: Span) -> None:
        """Take out a word with the blanks in front of it, or behind it where it begins the line."""
        text = self._index.source.text
        before = _BLANK_BEFORE.search(text, max(0, span.start - _LONGEST_GAP), span.start)
        start = before.start() if before else span.start
        if start == span.start or text[start - 1] in "\r\n" or start == 0:
            if not any(command.span.start == span.start for command in self._index.commands):
                self.give_up()  # a comment between the lines of a command: what is left of them would end it
            behind = _BLANK_BEHIND.match(text, span.end)
            self.replace(Span(span.start, behind.end() if behind else span.end), "")
            return
        self.replace(Span(start, span.end), "")

    def delete_lines(self, span: Span) -> None:
        """Take out whole lines; impossible where something else, or a comment, stands on them."""
        source = self._index.source
        start = source.line_start(span.start)
        last = source.row(max(span.start, span.end - 1))
        end = source.line_starts[last] if last < source.row_count else len(source.text)
        around = source.text[start : span.start] + source.text[span.end : end]
        if around.strip():
            self.give_up()
        self.replace(Span(start, end), "")

    def delete_setting(self, setting: Setting) -> None:
        """Take out ``NAME=value``: the word, or the whole command or instruction where it holds nothing else.

        Impossible while the file reads the variable, and where a block might be left empty.
        """
        text = self._index.source.text
        if re.search(rf"\$\{{?[#!]?{setting.name}\b|%{setting.name}%", text):
            self.give_up()
        elif setting.is_prefix:
            self.delete_word(setting.span)
        elif (place := self._place_among_several(setting)) is not None:
            # The first one stays until it is alone: without any the command would mean something else.
            self.delete_word(setting.span)
            self.possible = self.possible and place > 0
        elif setting.command.depth == 0 and setting.command.alone and not setting.command.tested:
            self.delete_lines(setting.command.span)
        else:
            self.give_up()

    def _place_among_several(self, setting: Setting) -> int | None:
        """The place of a setting among those of its command; None where there is no other."""
        others = [one for one in self._index.settings if one.command.span == setting.command.span]
        return others.index(setting) if len(others) > 1 else None

    def build(self) -> Fix | None:
        """The finished fix; None when it is impossible or empty. Overlapping edits make it impossible."""
        if not self.possible or not self._edits:
            return None
        edits = sorted(set(self._edits))
        comments = self._index.comments
        if any(edit.span.start < one.end and one.start < edit.span.end for edit in edits for one in comments):
            return None  # comments survive
        if any(left.span.end > right.span.start or left.span == right.span for left, right in pairwise(edits)):
            return None
        return Fix(self.title, tuple(edits), (), self.applicability, self.reason, Scope.EXPRESSION)
