"""Parsed cards kept in the user's cache folder, so that YAML is read only when a card changed."""

from __future__ import annotations

import json
import os
from typing import Any

from tpulint.records import NamedTuple

try:
    # hashlib would load OpenSSL for one digest.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

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
    """JSON of what is for people, and of the mapping table: nine tenths of a card, of which few runs need anything."""


def parted(card: dict[str, Any]) -> KeptCard:
    """A card as it is kept."""
    rest = {key: card[key] for key in _REST}
    return KeptCard({key: value for key, value in card.items() if key not in rest}, json.dumps(rest).encode())


def read(name: str) -> list[KeptCard] | None:
    """The cards kept under this name; None when there are none or the file is damaged."""
    try:
        with open(os.path.join(_folder(), f"catalogue-{name}.json"), "rb") as file:
            checksum, _, data = file.read().partition(b"\n")
    except OSError:
        return None
    if _checksum(data) != checksum:
        return None
    heads, *rests = data.split(b"\n")
    return list(map(KeptCard, json.loads(heads), rests))


def keep(name: str, cards: list[KeptCard]) -> None:
    """Write the cards, whole or not at all. A folder that cannot be written only costs time."""
    from tpulint.disk import write_private

    folder = _folder()
    data = b"\n".join((json.dumps([card.head for card in cards]).encode(), *(card.rest for card in cards)))
    try:
        write_private(os.path.join(folder, f"catalogue-{name}.json"), _checksum(data) + b"\n" + data)
        with os.scandir(folder) as entries:
            kept = sorted((e for e in entries if e.name.startswith("catalogue-")), key=lambda e: e.stat().st_mtime_ns)
        for entry in kept[:-KEPT_FILES]:
            os.unlink(entry.path)
    except OSError:
        return


def _folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tpulint")


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).hexdigest().encode()
