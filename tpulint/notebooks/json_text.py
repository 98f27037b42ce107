"""JSON read with the places of its values, so that one of them can be replaced and all else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder, dumps

_DECODER = JSONDecoder()
_BLANK = re.compile(r"[ \t\n\r]*")
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")
_PIECE = re.compile(r"(?:[^\\]|\\[^n])*?(?:\\n|\Z)")
_NEEDED = '\\"'
"""Characters that no string holds as they are, besides control characters."""


class Cursor:
    """Walks over a JSON text. What is of no interest is read by the decoder of the standard library, at its speed.

    Raises ``JSONDecodeError``, which knows the row.
    """

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.skip_blank()

    def skip_blank(self) -> None:
        """Come to what is written next."""
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def sees(self, char: str) -> bool:
        """Whether the next value begins with a character."""
        return self.text.startswith(char, self.at)

    def value(self) -> object:
        """Read one value and the blanks behind it."""
        found, self.at = _DECODER.raw_decode(self.text, self.at)
        self.skip_blank()
        return found

    def spanned(self) -> tuple[object, int, int]:
        """The same with the offsets between which the value stands."""
        start = self.at
        found, end = _DECODER.raw_decode(self.text, start)
        self.at = end
        self.skip_blank()
        return found, start, end

    def members(self) -> Iterator[str]:
        """The keys of an object. Whoever takes one reads its value before taking the next."""
        self._take("{")
        while not self.sees("}"):
            key = self.value() if self.sees('"') else None
            if not isinstance(key, str):
                raise JSONDecodeError("Expecting property name enclosed in double quotes", self.text, self.at)
            self._take(":")
            yield key
            if not self.sees("}"):
                self._take(",")
                if self.sees("}"):
                    raise JSONDecodeError("Illegal trailing comma before end of object", self.text, self.at)
        self._take("}")

    def items(self) -> Iterator[int]:
        """The places of a list. Whoever takes one reads its value before taking the next."""
        self._take("[")
        number = 0
        while not self.sees("]"):
            yield number
            number += 1
            if not self.sees("]"):
                self._take(",")
                if self.sees("]"):
                    raise JSONDecodeError("Illegal trailing comma before end of array", self.text, self.at)
        self._take("]")

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self.at < len(self.text):
            raise JSONDecodeError("Extra data", self.text, self.at)

    def _take(self, char: str) -> None:
        if not self.sees(char):
            raise JSONDecodeError(f"Expecting '{char}'", self.text, self.at)
        self.at += 1
        self.skip_blank()


class Spelling:
    """How strings are spelt in a JSON text: which characters as escapes, and in which way."""

    def __init__(self, text: str) -> None:
        self._special: dict[int, str] = {}
        self._is_ascii = False
        """Whether characters beyond ASCII are written as escapes, all of them."""
        self._is_upper = False
        if "\\" not in text:
            return
        for escape in set(_ESCAPE.findall(text)):
            char = JSONDecoder().decode(f'"{escape}"') if escape[1] in "u/" else ""
            if len(char) != 1 or char in _NEEDED or char < " ":
                continue
            if text.count(char) == (text.count("\\/") if char == "/" else 0):
                self._special[ord(char)] = escape
            if char > "\x7e" and text.isascii():
                self._is_ascii = True
                self._is_upper = self._is_upper or escape[2:] != escape[2:].lower()

    def write(self, value: str) -> str:
        """A string, without its quotes."""
        written = dumps(value, ensure_ascii=self._is_ascii or any("\ud800" <= char <= "\udfff" for char in value))[1:-1]
        if self._is_upper:
            written = re.sub(r"(?<!\\)((?:\\\\)*\\u)([0-9a-f]{4})", lambda match: match[1] + match[2].upper(), written)
        return written.translate(self._special) if self._special else written


def pieces(inner: str) -> dict[str, str]:
    """The lines of a string to the way in which they are written, from the text between its quotes."""
    written = [match.group() for match in _PIECE.finditer(inner) if match.group()]
    return {JSONDecoder().decode(f'"{piece}"'): piece for piece in written}
