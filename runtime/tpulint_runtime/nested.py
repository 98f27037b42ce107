"""Batches: mappings, tuples, lists and dataclasses in each other, with tensors and other values as leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

Key = str | int
Path = tuple[Any, ...]
"""Keys, positions and names of fields from the batch down to a leaf; empty when the batch is itself a leaf."""


def is_leaf(value: Any) -> bool:
    """Whether nothing is looked for inside of ``value``: anything but a mapping, a tuple, a list or an instance of a
    dataclass."""
    return not isinstance(value, (Mapping, tuple, list)) and (isinstance(value, type) or not is_dataclass(value))


def items(value: Any) -> list[tuple[Any, Any]]:
    """Keys (of a mapping), positions (of a tuple or a list) or fields (of a dataclass), with what stands there."""
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, (tuple, list)):
        return list(enumerate(value))
    return [(field.name, getattr(value, field.name)) for field in fields(value)]


def is_column(value: Any, count: int) -> bool:
    """Whether ``value`` is a list or tuple with an entry for each of ``count`` samples, such as their texts: without
    tensors, arrays and containers in it."""
    if not isinstance(value, list | tuple) or hasattr(value, "_fields") or len(value) != count:
        return False
    is_plain = all(is_leaf(entry) and not hasattr(entry, "shape") for entry in value)
    return is_plain and any(entry is not None for entry in value)


def rebuild(like: Any, values: Sequence[Any]) -> Any:
    """A container of the type of ``like``, with the same keys, and ``values`` in the order of :func:`items`. A
    dataclass is made without its ``__init__``, which may not expect a batch, or a mask, where a sample has a value."""
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
    if isinstance(like, (tuple, list)):
        return tuple(values) if isinstance(like, tuple) else list(values)
    made = object.__new__(type(like))
    for field, value in zip(fields(like), values, strict=True):
        object.__setattr__(made, field.name, value)  # frozen ones, too
    return made


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf of ``value`` with its path, in order."""
    if is_leaf(value):
        yield path, value
        return
    for key, child in items(value):
        yield from leaves(child, (*path, key))


def show(path: Path) -> str:
    """The path as one would write it: ``batch['input_ids'][0]``."""
    return "batch" + steps_to(path)


def steps_to(path: Path) -> str:
    """The path without what it begins at: ``['input_ids'][0]``."""
    return "".join(f"[{key!r}]" for key in path)
