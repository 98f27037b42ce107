"""Which of the words that rules wait for stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

_IS_PART = re.compile(r"[A-Za-z0-9_]+\Z")
_SEPARATED = bytes(code if code > 127 or chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(256))
"""Table that puts a blank for each byte that is part of no name."""


class Anchors:
    """Texts to look for, wherever they stand: ``cat`` stands in ``concatenate`` as well.

    Most names of a text occur in it many times, so names are looked through once each. An anchor with other signs in
    it, as ``.to(``, is looked for in the whole text, but only where the names within it are there.
    """

    def __init__(self, anchors: Iterable[str]) -> None:
        self._parts: list[str] = []
        """Anchors that lie within one name."""
        self._longer: list[tuple[str, tuple[bytes, ...], str, str]] = []
        """The others: with names that a text with the anchor has, how a name ends in front of them, and begins behind.
        """
        for anchor in sorted(anchors):
            if _IS_PART.match(anchor):
                self._parts.append(anchor)
            else:
                names = re.split(r"[^A-Za-z0-9_]+", anchor)
                whole = tuple(name.encode() for name in names[1:-1] if name)
                self._longer.append((anchor, whole, names[0], names[-1]))

    def present(self, text: str) -> set[str]:
        """The anchors that stand in the text."""
        names = set(text.encode(errors="replace").translate(_SEPARATED).split())
        joined = b" ".join(names).decode()
        found = {anchor for anchor in self._parts if anchor in joined}
        for anchor, whole, end, beginning in self._longer:
            if end in joined and beginning in joined and names.issuperset(whole) and anchor in text:
                found.add(anchor)
        return found
