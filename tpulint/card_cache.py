"""Parsed cards kept in the user's cache folder, so that YAML is read only when a card changed.

They are kept as Python keeps its own compiled files: that is read in a third of the time that JSON takes.
"""

from __future__ import annotations

import binascii
import marshal
import os
from typing import Any

from tpulint.records import NamedTuple

KEPT_FILES = 8
"""One for each set of plugins in use, and some for those who write rules."""
_REST = (
    "advice", "examples", "fix_safety", "mapping", "prelude", "references", "summary", "when_to_ignore", "why",
)  # fmt: skip


class KeptCard(NamedTuple):
    """A parsed card in two parts."""

    head: dict[str, Any]
    """What a run asks of every rule."""
    rest: bytes
    """What is for people, and the mapping table: nine tenths of a card, of which few runs need anything."""


def parted(card: dict[str, Any]) -> KeptCard:
    """A card as it is kept."""
    rest = {key: card[key] for key in _REST}
    return KeptCard({key: value for key, value in card.items() if key not in rest}, marshal.dumps(_plain(rest)))


def rest_of(card: KeptCard) -> dict[str, Any]:
    """The second part of a card."""
    rest: dict[str, Any] = marshal.loads(card.rest)
    return rest


def read(name: str) -> list[KeptCard] | None:
    """The cards kept under this name; None when there are none or the file is damaged."""
    try:
        with open(os.path.join(_folder(), f"catalogue-{name}.cards"), "rb") as file:
            checksum, _, data = file.read().partition(b"\n")
    except OSError:
        return None
    if _checksum(data) != checksum:
        return None
    return list(map(KeptCard._make, marshal.loads(data)))


def keep(name: str, cards: list[KeptCard]) -> None:
    """Write the cards, whole or not at all. A folder that cannot be written only costs time."""
    from tpulint.disk import write_private

    folder = _folder()
    data = marshal.dumps([(_plain(card.head), card.rest) for card in cards])
    try:
        write_private(os.path.join(folder, f"catalogue-{name}.cards"), _checksum(data) + b"\n" + data)
        with os.scandir(folder) as entries:
            kept = sorted((e for e in entries if e.name.startswith("catalogue-")), key=lambda e: e.stat().st_mtime_ns)
        for entry in kept[:-KEPT_FILES]:
            os.unlink(entry.path)
    except OSError:
        return


def _folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tpulint")


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    """The same of plain lists, which is what JSON makes of tuples with names."""
    import json

    plain: dict[str, Any] = json.loads(json.dumps(part))
    return plain


def _checksum(data: bytes) -> bytes:
    return f"{binascii.crc32(data):08x}".encode()
