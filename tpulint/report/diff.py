"""The unified diff of one file, such as ``git apply`` and ``patch`` take it."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

from tpulint.patterns import with_slashes

_Part = TypeVar("_Part", bound=Hashable)
_CONTEXT = 3
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def unified(path: str, before: bytes, after: bytes, sides: str = "ab") -> bytes:
    """The diff from one content of a file to another, byte for byte. Nothing when they are equal.

    ``sides`` are the folders that git puts in front of both names; none where the path is not that of a file.
    """
    # Lines as patch sees them: a lone carriage return does not end one.
    old, new = _LINE.findall(before), _LINE.findall(after)
    parts: list[bytes] = []
    for group in matcher(old, new).get_grouped_opcodes(_CONTEXT):
        _, old_start, _, new_start, _ = group[0]
        _, _, old_end, _, new_end = group[-1]
        parts.append(b"@@ -%s +%s @@\n" % (_range(old_start, old_end), _range(new_start, new_end)))
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                parts.extend(_marked(b" ", old[old_from:old_to]))
            else:
                parts.extend(_marked(b"-", old[old_from:old_to]))
                parts.extend(_marked(b"+", new[new_from:new_to]))
    if parts:
        shown = "".join(_ESCAPES.get(char, char) if char in "\r\n" else char for char in with_slashes(path))
        old_name, new_name = [_name(side, path) for side in sides] or [os.fsencode(shown)] * 2
        parts.insert(0, b"--- %s\n+++ %s\n" % (old_name, new_name))
    return b"".join(parts)


def coloured(diff: bytes) -> bytes:
    """The diff as a terminal shows it."""
    colours = {b"-": b"31", b"+": b"32", b"@": b"36"}
    painted = []
    for line in _LINE.findall(diff):
        colour = b"1" if line.startswith((b"--- ", b"+++ ")) else colours.get(line[:1])
        painted.append(line if colour is None else b"\x1b[%sm%s\x1b[0m\n" % (colour, line.rstrip(b"\r\n")))
    return b"".join(painted)


def matcher(old: Sequence[_Part], new: Sequence[_Part]) -> SequenceMatcher[_Part]:
    """A matcher that was spared the lines both contents begin and end with: most of a long file."""
    shortest = min(len(old), len(new))
    head = next((n for n in range(shortest) if old[n] != new[n]), shortest)
    tail = next((n for n in range(shortest - head) if old[-1 - n] != new[-1 - n]), shortest - head)
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    shifted = [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle.get_opcodes()]
    whole = SequenceMatcher(None, old, new)
    # get_grouped_opcodes takes the opcodes from here when they are known.
    whole.opcodes = [  # type: ignore[attr-defined]
        *([("equal", 0, head, 0, head)] if head else []),
        *shifted,
        *([("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []),
    ]
    return whole


def _marked(mark: bytes, lines: Sequence[bytes]) -> list[bytes]:
    return [mark + (line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n") for line in lines]


def _range(start: int, end: int) -> bytes:
    length = end - start
    if length == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + 1 if length else start, length)


def _name(side: str, path: str) -> bytes:
    """The path as git writes it in a header; one outside the working directory cannot be applied, only read."""
    path = with_slashes(path)
    if path == "-" or os.path.isabs(path):
        return os.fsencode(path)
    path = f"{side}/{path}"
    if any(char in path for char in _ESCAPES):
        return b'"%s"' % os.fsencode("".join(_ESCAPES.get(char, char) for char in path))
    # A name with blanks ends at a tab.
    return os.fsencode(path) + (b"\t" if " " in path else b"")
