"""Batches: mappings, tuples and lists in each other, with tensors and other values as leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Key = str | int
Path = tuple[Any, ...]
"""Keys and positions from the batch down to a leaf; empty when the batch is itself a leaf."""


def is_leaf(value: Any) -> bool:
    """Whether nothing is looked for inside of ``value``: anything but a mapping, a tuple or a list."""
    return not isinstance(value, (Mapping, tuple, list))


def items(value: Any) -> list[tuple[Any, Any]]:
    """Keys (of a mapping) or positions (of a tuple or a list), with what stands there."""
    return list(value.items()) if isinstance(value, Mapping) else list(enumerate(value))


def rebuild(like: Any, values: Sequence[Any]) -> Any:
    """A container of the type of ``like``, with the same keys, and ``values`` in the order of :func:`items`."""
    if isinstance(like, Mapping):
        contents = dict(zip(like.keys(), values, strict=True))
        if type(like) is dict:
            return contents
        try:
            return type(like)(contents)  # type: ignore[call-arg]
        except TypeError:  # a mapping with a constructor of its own, such as defaultdict
            return contents
    if hasattr(like, "_fields"):
        return type(like)(*values)
    return tuple(values) if isinstance(like, tuple) else list(values)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf of ``value`` with its path, in order."""
    if is_leaf(value):
        yield path, value
        return
    for key, child in items(value):
        yield from leaves(child, (*path, key))


def show(path: Path) -> str:
    """The path as one would write it: ``batch['input_ids'][0]``."""
    return "batch" + "".join(f"[{key!r}]" for key in path)
