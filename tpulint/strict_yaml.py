"""YAML tables read key by key: every wrong key, type or value is an error that names file and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import yaml

from tpulint.card import CardError

# The C loader parses ten times faster; PyYAML built without libyaml has only the other one.
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TAGS = {
    "tag:yaml.org,2002:str": "text",
    "tag:yaml.org,2002:int": "a whole number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:null": "empty",
    "tag:yaml.org,2002:timestamp": "a date",
    "tag:yaml.org,2002:seq": "a list",
    "tag:yaml.org,2002:map": "a table",
}


class Table:
    """One YAML mapping. Ask for each key that may be there, then ``close`` it: what was not asked for is unknown."""

    def __init__(self, node: yaml.Node, path: str, what: str) -> None:
        if not isinstance(node, yaml.MappingNode):
            raise CardError(path, _row(node), f"{what} must be a table of keys, not {_kind(node)}")
        self.path = path
        self.what = what
        self.row = _row(node)
        self._values: dict[str, yaml.Node] = {}
        self._keys: dict[str, yaml.Node] = {}
        self._known: list[str] = []
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise CardError(path, _row(key), f"a key of {what} must be text, not {_kind(key)}")
            if key.value in self._values:
                raise CardError(path, _row(key), f"key {key.value!r} of {what} is given twice")
            self._values[key.value] = value
            self._keys[key.value] = key

    def __contains__(self, key: str) -> bool:
        return key in self._values

    @property
    def words(self) -> list[str]:
        """All keys, in the order written."""
        return list(self._values)

    def error(self, message: str, key: str | None = None) -> CardError:
        """An error that points at the value of a key, or at the table."""
        node = self._values.get(key) if key is not None else None
        return CardError(self.path, _row(node) if node is not None else self.row, message)

    def _take(self, key: str) -> yaml.Node | None:
        self._known.append(key)
        return self._values.get(key)

    def _need(self, key: str) -> yaml.Node:
        node = self._take(key)
        if node is None:
            raise CardError(self.path, self.row, f"{self.what} lacks the key {key!r}")
        return node

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty; without a default the key must be there."""
        if default is not None and key not in self._values:
            self._known.append(key)
            return default
        return self._text_of(self._need(key), key)

    def _text_of(self, node: yaml.Node, key: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:str":
            hint = "; put it in quotes" if isinstance(node, yaml.ScalarNode) else ""
            raise CardError(self.path, _row(node), f"{key!r} of {self.what} must be text, not {_kind(node)}{hint}")
        if not node.value.strip():
            raise CardError(self.path, _row(node), f"{key!r} of {self.what} is empty")
        return str(node.value)

    def choice(self, key: str, allowed: Iterable[str], default: str | None = None) -> str:
        """One of a closed list of words."""
        value = self.text(key, default)
        words = list(allowed)
        if value not in words:
            raise self.error(f"{key!r} of {self.what} must be one of {', '.join(words)}, not {value!r}", key)
        return value

    def flag(self, key: str) -> bool:
        """``true`` or ``false``; absent is false."""
        node = self._take(key)
        if node is None:
            return False
        value = self._scalar_of(node, key)
        if not isinstance(value, bool):
            raise CardError(self.path, _row(node), f"{key!r} of {self.what} must be true or false, not {_kind(node)}")
        return value

    def number(self, key: str) -> int | None:
        """A whole number, or None when the key is absent."""
        node = self._take(key)
        if node is None:
            return None
        value = self._scalar_of(node, key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise CardError(self.path, _row(node), f"{key!r} of {self.what} must be a whole number, not {_kind(node)}")
        return value

    def value(self, key: str) -> object:
        """A text, number, flag, null or list of these; the key must be there."""
        node = self._need(key)
        if isinstance(node, yaml.SequenceNode):
            return [self._scalar_of(item, key) for item in node.value]
        return self._scalar_of(node, key)

    def values(self, key: str) -> list[object]:
        """A list of texts, numbers, flags or nulls; absent is empty."""
        return [self._scalar_of(item, key) for item in self._items(key)]

    def _scalar_of(self, node: yaml.Node, key: str) -> object:
        if not isinstance(node, yaml.ScalarNode):
            raise CardError(self.path, _row(node), f"{key!r} of {self.what} must be a plain value, not {_kind(node)}")
        if node.tag == "tag:yaml.org,2002:str":
            return node.value
        loader = yaml.SafeLoader("")
        try:
            return loader.construct_object(node)
        finally:
            loader.dispose()

    def texts(self, key: str, *, or_text: bool = False) -> list[str]:
        """A list of texts; absent is empty. ``or_text`` takes one text as a list of one."""
        node = self._values.get(key)
        if or_text and isinstance(node, yaml.ScalarNode):
            return [self.text(key)]
        return [self._text_of(item, key) for item in self._items(key)]

    def _items(self, key: str) -> list[yaml.Node]:
        node = self._take(key)
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            raise CardError(self.path, _row(node), f"{key!r} of {self.what} must be a list, not {_kind(node)}")
        return list(node.value)

    def table(self, key: str) -> Table:
        """A nested table; the key must be there."""
        return Table(self._need(key), self.path, f"{key!r}")

    def tables(self, key: str, what: str) -> Iterator[Table]:
        """A list of tables; absent is empty."""
        for node in self._items(key):
            yield Table(node, self.path, what)

    def close(self) -> None:
        """Raise for the first key nobody asked for."""
        for key, node in self._keys.items():
            if key not in self._known:
                known = ", ".join(sorted(set(self._known)))
                raise CardError(self.path, _row(node), f"unknown key {key!r} in {self.what}; known keys are {known}")


def read(text: str, path: str, what: str) -> Table:
    """The table that a YAML document is."""
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        row = mark.line + 1 if mark is not None else 1
        raise CardError(path, row, f"not YAML: {getattr(error, 'problem', None) or error}") from None
    if node is None:
        raise CardError(path, 1, f"{what} is empty")
    return Table(node, path, what)


def _row(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _kind(node: yaml.Node) -> str:
    return _TAGS.get(node.tag, node.tag)
