"""Which of the words that rules wait for stand in a text."""

from __future__ import annotations

from collections.abc import Iterable

from tpulint.records import NamedTuple

_SIGNS = bytes(range(128)).translate(None, b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_SEPARATED = bytes.maketrans(_SIGNS, b" " * len(_SIGNS))
"""Table that puts a blank for each byte that is part of no name."""
_MOST_NAMES = 50_000
"""Names that are remembered: a few megabytes."""


class _Longer(NamedTuple):
    """An anchor with other signs in it than those of names, as ``xmp.spawn(``."""

    anchor: str
    edges: frozenset[bytes]
    """How names end in front of its first sign, and begin behind its last; a blank stands for the edge of the name."""
    whole: frozenset[bytes]
    """Names between two signs of it."""


class Anchors:
    """Texts to look for, wherever they stand: ``cat`` stands in ``concatenate`` as well.

    The files of a project share most of their names, so each name is looked through once. An anchor with other signs in
    it, as ``.to(``, is looked for in the whole text, but only where the names within it are there.
    """

    def __init__(self, anchors: Iterable[str]) -> None:
        self._parts: dict[bytes, str] = {}
        """Anchors that lie within one name."""
        self._longer: list[_Longer] = []
        """The others."""
        for anchor in sorted(anchors):
            first, *others = anchor.encode().translate(_SEPARATED).split(b" ")
            if not others:
                self._parts[first] = anchor
            else:
                *whole, last = others
                edges = frozenset({first + b" ", b" " + last} - {b" "})
                self._longer.append(_Longer(anchor, edges, frozenset(filter(None, whole))))
        self._looked_for = sorted({*self._parts, *(edge for longer in self._longer for edge in longer.edges)})
        self._held: dict[bytes, frozenset[bytes]] = {}
        """What of all that the names seen so far hold."""
        self._silent: set[bytes] = set()
        """Names seen so far that hold nothing of it: most of them."""

    def present(self, text: str) -> set[str]:
        """The anchors that stand in the text."""
        names = set(text.encode(errors="replace").translate(_SEPARATED).split())
        held = self._held
        speaking = names - self._silent
        if new := speaking.difference(held):
            self._look_through(new)
            speaking -= self._silent
        parts = {part for name in speaking for part in held[name]}
        found = {self._parts[part] for part in parts if part in self._parts}
        for anchor, edges, whole in self._longer:
            if edges <= parts and whole <= names and anchor in text:
                found.add(anchor)
        return found

    def _look_through(self, names: set[bytes]) -> None:
        """Find what new names hold."""
        if len(self._held) + len(self._silent) > _MOST_NAMES:
            self._silent.clear()  # the others are few, and asked for
        joined = b" %b " % b" ".join(names)
        held: dict[bytes, list[bytes]] = {}
        for part in self._looked_for:
            at = joined.find(part)
            while at >= 0:
                inside = at + part.startswith(b" ")
                end = joined.index(b" ", inside)
                held.setdefault(joined[joined.rindex(b" ", 0, inside) + 1 : end], []).append(part)
                at = joined.find(part, end)
        self._held.update((name, frozenset(parts)) for name, parts in held.items())
        self._silent.update(names.difference(held))
