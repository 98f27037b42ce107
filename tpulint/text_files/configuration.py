"""Configurations in YAML: tables of keys and plain values, each with its place."""

from __future__ import annotations

from tpulint.model import Span
from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import yaml

_LONGEST = 200_000
"""Characters. What is longer holds data."""


class Entry(NamedTuple):
    """A key with one plain value, quoted or not."""

    key: str
    value: str
    """Without quotes."""
    value_span: Span
    span: Span
    under: str = ""
    """The key of the mapping that the entry stands in: ``device`` of ``type`` in ``device: {type: cuda}``."""


Table = tuple[Entry, ...]
"""The entries of one mapping; what is no plain value is left out."""


class _Open:
    """A mapping or a list that is not closed yet."""

    def __init__(self, is_table: bool, under: str = "") -> None:
        self.is_table = is_table
        self._under = under
        self.entries: list[Entry] = []
        self._key: yaml.Event | None = None

    def take(self, text: str, event: yaml.Event) -> str:
        """Take in the next key, value or item, by its first event; of a value the key that it stands under."""
        if not self.is_table:
            return ""
        if self._key is None:
            self._key = event
            return ""
        key, value = _plain(text, self._key), _plain(text, event)
        self._key = None
        if key is not None and value is not None:
            span = Span(key.start, value.end)
            self.entries.append(Entry(text[slice(*key)], text[slice(*value)], value, span, self._under))
        return "" if key is None else text[slice(*key)]


def read(text: str) -> tuple[Table, ...]:
    """The tables of all documents of a text; none of what is no YAML."""
    if len(text) > _LONGEST:
        return ()
    import yaml

    tables: list[Table] = []
    around = [_Open(is_table=False)]
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            under = around[-1].take(text, event) if isinstance(event, yaml.NodeEvent) else ""
            if isinstance(event, yaml.CollectionStartEvent):
                around.append(_Open(isinstance(event, yaml.MappingStartEvent), under))
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = around.pop()
                if closed.is_table:
                    tables.append(tuple(closed.entries))
    except (yaml.YAMLError, ValueError):
        return ()
    return tuple(tables)


def _plain(text: str, event: yaml.Event) -> Span | None:
    """Where a text stands, its quotes left out; None for one that has escapes, an anchor or a tag."""
    import yaml

    if not isinstance(event, yaml.ScalarEvent) or event.start_mark is None or event.end_mark is None:
        return None
    start, end = event.start_mark.index, event.end_mark.index
    if event.style in ("'", '"'):
        start, end = start + 1, end - 1
    return Span(start, end) if text[start:end] == event.value else None
