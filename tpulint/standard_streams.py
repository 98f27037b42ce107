"""Standard input, output and error: what they are where the caller closed them, and whether they still take text."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_NAMES = ("stdin", "stdout", "stderr")


def prepare() -> None:
    """Fill the places of closed streams, and let no path or message that the terminal's encoding lacks end the run."""
    for name in _NAMES:
        if getattr(sys, name) is None:  # closed: the next file that is opened would be taken for it
            setattr(sys, name, _closed(name))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _closed(name: str) -> TextIO:
    """A stream in place of one that the caller closed: nobody is to hear errors, and all other use of it fails."""
    if name == "stderr":
        return open(os.devnull, "w", encoding="utf-8")
    descriptor = os.open(os.devnull, os.O_WRONLY if name == "stdin" else os.O_RDONLY)
    if name == "stdin":
        return open(descriptor, encoding="utf-8")
    return open(descriptor, "w", encoding="utf-8")


def is_full(stream: TextIO) -> bool:
    """Whether a stream takes no text any more, not even the end of a line."""
    try:
        stream.write("\n")
        stream.flush()
    except OSError:
        return True
    return False


def discard(stream: TextIO) -> None:
    """Let go of what is left unwritten, which must not be written at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
