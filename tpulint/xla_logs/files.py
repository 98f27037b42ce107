"""Lines of a log, one after the other: a file may be larger than memory."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO

_LONGEST = 1 << 16
"""Bytes of a line that are read at once. Progress bars write lines that never end."""
_GZIP = b"\x1f\x8b"


class CutOff(Exception):
    """A compressed file that ends too early, or is damaged."""


def lines_of(path: str) -> Iterator[str]:
    """The lines of a file, which may be compressed by gzip; ``-`` is standard input.

    Raises OSError, and ``CutOff`` behind the last line that can be read.
    """
    if path == "-":
        yield from _lines(sys.stdin.buffer)
        return
    with open(path, "rb") as file:
        is_compressed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        if not is_compressed:
            yield from _lines(file)
            return
        with gzip.open(file) as unpacked:
            try:
                yield from _lines(unpacked)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise CutOff(str(error)) from None


def _lines(file: BinaryIO | gzip.GzipFile) -> Iterator[str]:
    while data := file.readline(_LONGEST):
        yield data.decode("utf-8", "replace")
