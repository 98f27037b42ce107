"""Settings that cannot be meant: told where they are given, with their name and what to give instead."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping
from numbers import Number
from typing import Any


def checked_whole(name: str, given: Any) -> int:
    """A whole number, of NumPy or a tensor, too, as Python's own. Raises TypeError for anything else, bool included."""
    try:
        whole = operator.index(given)
    except (TypeError, RuntimeError):
        whole = None
    if whole is None or isinstance(given, bool) or "bool" in str(getattr(given, "dtype", "")):
        raise TypeError(f"{name} is {given!r}: give a whole number")
    return whole


def checked_count(name: str, given: Any, least: int) -> int:
    """As :func:`checked_whole`. Raises ValueError for a number below ``least``."""
    whole = checked_whole(name, given)
    if whole < least:
        raise ValueError(f"{name} is {whole}: give at least {least}")
    return whole


def checked_sizes(given: Any) -> tuple[int, ...]:
    """Lengths to pad to, ascending, each once. Raises TypeError for what is no list of whole numbers, ValueError for no
    size, and for one less than 1."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"sizes is {given!r}: give a list of whole numbers")
    sizes = tuple(sorted({checked_whole("a size", size) for size in given}))
    if not sizes or sizes[0] < 1:
        raise ValueError(f"sizes are {sizes}: give at least one, none less than 1")
    return sizes


def checked_share(num_replicas: Any, rank: Any) -> tuple[int, int]:
    """Processes that train together, and which of them this is. Raises TypeError and ValueError for what cannot be."""
    processes, own = checked_whole("num_replicas", num_replicas), checked_whole("rank", rank)
    if not 0 <= own < processes:
        raise ValueError(f"rank is {own} of {processes} processes")
    return processes, own


def check_number(name: str, given: Any) -> None:
    """Raises TypeError for what is no number of Python or NumPy. A bool is one: what a mask is filled with."""
    if not isinstance(given, Number) and getattr(given, "ndim", None) != 0:
        raise TypeError(f"{name} is {given!r}: give a number")


def check_names(name: str, given: Any) -> None:
    """Raises TypeError for what is no collection of names. A text would be one name for each of its letters."""
    if isinstance(given, str | bytes) or not isinstance(given, Collection):
        raise TypeError(f"{name} is {given!r}: give a list of names")


def check_mapping(name: str, given: Any) -> None:
    """Raises TypeError for what has no values by name."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is {given!r}: give values by name")


def check_function(name: str, given: Any, of: str) -> None:
    """Raises TypeError for what cannot be called."""
    if not callable(given):
        raise TypeError(f"{name} is {kind_of(given)}: give a function of {of}")


def check_backend(given: Any) -> None:
    """Raises TypeError for what counts no work, such as a name."""
    if given is not None and (isinstance(given, type) or not hasattr(given, "counts_work")):
        shown = kind_of(given) if isinstance(given, type) else repr(given)
        raise TypeError(f"backend is {shown}: give what current() returns, or None")


def check_loader(name: str, given: Any) -> None:
    """Raises TypeError for what no batches can be taken from."""
    # What has __getitem__ alone can be iterated, too.
    if not isinstance(given, Iterable) and not hasattr(given, "__getitem__"):
        raise TypeError(f"{name} is {kind_of(given)}: give what batches can be taken from, such as a DataLoader")


def kind_of(given: Any) -> str:
    """What something is, in words: ``a float``, ``the class SGD``."""
    return f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"
