"""Parsed cards kept in the user's cache folder, so that YAML is read only when a card changed."""

from __future__ import annotations

import marshal

from tpulint import user_cache
from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    cards = user_cache.read(_file(name))
    return None if cards is None else list(map(KeptCard._make, cards))


def keep(name: str, cards: list[KeptCard]) -> None:
    """Write the cards."""
    user_cache.keep(_file(name), [(_plain(card.head), card.rest) for card in cards], KEPT_FILES)


def _file(name: str) -> str:
    return f"catalogue-{name}.cards"


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    """The same of plain lists, which is what JSON makes of tuples with names."""
    import json

    plain: dict[str, Any] = json.loads(json.dumps(part))
    return plain
