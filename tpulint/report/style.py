"""Colours, and text made fit for a terminal."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
}

_TAB = "    "


class Style:
    """Paints text, or leaves it as it is."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def paint(self, text: str, look: str) -> str:
        """The text in one of the looks."""
        return f"\x1b[{_CODES[look]}m{text}\x1b[0m" if self.colour and text else text


def wants_colour(when: str, stream: TextIO) -> bool:
    """Whether to write colours to a stream: ``always``, ``never``, or ``auto`` for what the terminal and user want."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """One line of a source file as it may be shown: tabs as blanks, nothing a terminal would obey."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\t", _TAB)
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def name(path: str) -> str:
    """A path on one line: what a terminal, or a server that reads its lines, would obey is written as an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in path)


def width(text: str) -> int:
    """How many columns of a terminal a printable text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
