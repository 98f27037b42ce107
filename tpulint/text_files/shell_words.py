"""Shell text to words and operators, each with its place."""

from __future__ import annotations

import re

from tpulint.model import Span
from tpulint.records import NamedTuple
from tpulint.text_files.words import Word

_PLAIN = re.compile(r"[^\s'\"\\$`;&|()<>]+")
_BLANK = re.compile(r"(?:[ \t\f\ufeff]|\\\r?\n)+")
_DOCKER_BLANK = re.compile(r"(?:[ \t\f]|\\[ \t]*\r?\n(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*)+")
_TO_NEWLINE = re.compile(r"[^\r\n]*")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_OPERATOR = re.compile(r"\|\||&&|;;&?|;&|[;|()]|&(?!>)")
_REDIRECT = re.compile(r"&?(?:<<<|<<-?|<>|>>|>\||[<>]&?)")
_CONTINUATION = re.compile(r"\\\r?\n")


class Token(NamedTuple):
    word: Word | None
    """None for an operator."""
    operator: str
    start: int
    end: int


class Scanner:
    """Text to words and operators; what stands in here-documents and behind redirections is left out."""

    def __init__(self, text: str, start: int, end: int, in_dockerfile: bool) -> None:
        self._text = text
        self._at = start
        self._end = end
        self._blank = _DOCKER_BLANK if in_dockerfile else _BLANK
        self.tokens: list[Token] = []
        self.comments: list[Span] = []
        self.documents: list[tuple[int, Span]] = []
        """Here-documents: where they are redirected from, and what they hold."""
        self._documents: list[tuple[int, str, bool]] = []
        """Here-documents that begin on the next line: delimiters, and whether tabs may stand before them."""

    def run(self) -> None:
        """Fill ``tokens`` and ``comments``."""
        text, end = self._text, self._end
        while self._at < end:
            at = self._at
            if match := self._blank.match(text, at, end):
                self._at = match.end()
            elif match := _NEWLINE.match(text, at, end):
                self._at = match.end()
                self.tokens.append(Token(None, "\n", at, match.end()))
                self._skip_documents()
            elif text[at] == "#":
                self._at = _must(_TO_NEWLINE, text, at, end)
                self.comments.append(Span(at, self._at))
            elif (text[at] in "<>" and text[at + 1 : at + 2] != "(") or text.startswith(("&>", "&<"), at):
                self._redirect(at)
            elif match := _OPERATOR.match(text, at, end):
                self._at = match.end()
                self.tokens.append(Token(None, match.group(), at, match.end()))
            else:
                word = self._word()
                number = word.text.isdigit() and text[self._at : self._at + 1] in ("<", ">")
                if not number:  # else the number of a stream
                    self.tokens.append(Token(word, "", *word.span))

    def _redirect(self, at: int) -> None:
        match = _REDIRECT.match(self._text, at, self._end)
        self._at = match.end() if match else at + 1
        while blank := self._blank.match(self._text, self._at, self._end):
            self._at = blank.end()
        if self._at >= self._end or self._text[self._at] in "\r\n;&|()<>":
            return
        target = self._word()
        if match and match.group() in ("<<", "<<-"):
            self._documents.append((at, target.text, match.group() == "<<-"))

    def _skip_documents(self) -> None:
        for place, delimiter, may_indent in self._documents:
            start = line_start = self._at
            while self._at < self._end:
                line_start = self._at
                line_end = _must(_TO_NEWLINE, self._text, self._at, self._end)
                line = self._text[self._at : line_end]
                newline = _NEWLINE.match(self._text, line_end, self._end)
                self._at = newline.end() if newline else line_end
                if (line.lstrip("\t") if may_indent else line) == delimiter:
                    self.documents.append((place, Span(start, line_start)))
                    break
        self._documents.clear()

    def _word(self) -> Word:
        text, start, end = self._text, self._at, self._end
        at, parts, literal = start, list[str](), True
        while at < end:
            char = text[at]
            if match := _PLAIN.match(text, at, end):
                parts.append(match.group())
                at = match.end()
            elif char == "\\":
                if match := _CONTINUATION.match(text, at, end):
                    at = match.end()
                else:
                    parts.append(text[at + 1 : at + 2])
                    at += 2
            elif char == "'":
                closing = text.find("'", at + 1, end)
                closing = end if closing < 0 else closing
                parts.append(text[at + 1 : closing])
                at = closing + 1
            elif char == '"':
                closing, expands = _closing_quote(text, at, end)
                literal = literal and not expands
                parts.append(_CONTINUATION.sub("", text[at + 1 : closing]))
                at = closing + 1
            elif char in "$`" or (char in "<>" and text[at + 1 : at + 2] == "("):
                after = _past_expansion(text, at, end)
                literal = False
                parts.append(text[at:after])
                at = after
            elif char == "(" and parts and parts[-1].endswith("="):  # an array
                after = _past_brackets(text, at, end, "(", ")")
                literal = False
                parts.append(text[at:after])
                at = after
            else:
                break
        self._at = min(max(at, start + 1), end)
        return Word("".join(parts), Span(start, self._at), literal)


def _closing_quote(text: str, at: int, end: int) -> tuple[int, bool]:
    """Place of the quote that closes the one at a place, and whether something is put in between them."""
    expands = False
    at += 1
    while at < end and text[at] != '"':
        if text[at] == "\\":
            at += 2
        elif text[at] in "$`":
            expands = True
            at = _past_expansion(text, at, end)
        else:
            at += 1
    return min(at, end), expands


def _past_expansion(text: str, at: int, end: int) -> int:
    """The place behind ``$name``, ``${...}``, ``$(...)`` or ``...`` in backquotes."""
    if text[at] == "`":
        closing = at + 1
        while closing < end and text[closing] != "`":
            closing += 2 if text[closing] == "\\" else 1
        return min(closing + 1, end)
    following = text[at + 1 : at + 2]
    if following == "(":
        return _past_brackets(text, at + 1, end, "(", ")")
    if following == "{":
        return _past_brackets(text, at + 1, end, "{", "}")
    if following == "'":
        closing = text.find("'", at + 2, end)
        return end if closing < 0 else closing + 1
    return at + 1


def _past_brackets(text: str, at: int, end: int, opening: str, closing: str) -> int:
    depth = 0
    while at < end:
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "'" and opening == "(":
            found = text.find("'", at + 1, end)
            at = end if found < 0 else found
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return end


def _must(pattern: re.Pattern[str], text: str, at: int, end: int) -> int:
    match = pattern.match(text, at, end)
    return match.end() if match else at
