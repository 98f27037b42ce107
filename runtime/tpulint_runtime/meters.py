"""Meters that get the device's numbers when somebody looks at them, and not in every step.

A meter that adds up tensors of the device makes its sum a part of the step's graph: an input where it goes on, a
constant where it starts anew, so that the first step of the second epoch is compiled once more. The same goes for its
count, which in that step is the size of the batch: equal numbers are one input. Here the graph has the numbers alone.
"""

from __future__ import annotations

import functools
import numbers as number_types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

import torch

from tpulint_runtime.backend import current

_Meter = TypeVar("_Meter")

_MOST_WAITING = 1000
"""Calls after which numbers are fetched though nobody looks: each holds a tensor on the device."""


_FIXED = (number_types.Number, str, bytes, torch.dtype, torch.device)


class _Update(NamedTuple):
    """One call that waits for its numbers."""

    meter: object
    method: Callable[..., object]
    """Of the class of the meter, bound to it."""
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    numbers: bool
    """Whether it is given numbers of Python."""

    def on_device(self) -> list[torch.Tensor]:
        return [value for value in (*self.arguments, *self.options.values()) if _is_on_device(value)]

    def may_wait(self) -> bool:
        """Whether all that it is given is a number of the device, or what nobody can change until then."""
        on_device = self.on_device()
        others = (value for value in (*self.arguments, *self.options.values()) if not _is_on_device(value))
        return (
            bool(on_device)
            and all(tensor.numel() == 1 for tensor in on_device)
            and all(value is None or isinstance(value, _FIXED) for value in others)
        )

    def make(self, fetched: Iterator[torch.Tensor]) -> None:
        """Make the call, with the next of these copies in place of its tensors."""

        def there(value: Any) -> Any:
            if not _is_on_device(value):
                return value
            copy = next(fetched)
            return copy.item() if self.numbers else copy

        self.method(*map(there, self.arguments), **{name: there(value) for name, value in self.options.items()})


_waiting: list[_Update] = []
"""Of all meters, in the order of the calls: who looks at one has them all updated, with one transfer."""
_behind: set[int] = set()
"""Identities of the meters that calls wait for."""


def defer_updates(meter: _Meter, *methods: str, numbers: bool = False) -> _Meter:
    """Has a meter take what the device computes when it is looked at: ``defer_updates(AverageMeter())``.

    Returns the meter itself, of a class derived from its own. ``methods`` are those that are called for each batch,
    ``"update"`` where none is named; what they return is None. A call waits that is given tensors of one element of an
    XLA device, which nobody changes in place, and beside them numbers and texts alone. The next other use of a meter
    that calls wait for fetches the tensors of all meters, in one transfer, and makes all calls in their order: with
    tensors of the host, or with ``numbers`` with what they hold. Where 1000 calls wait, half of them are made as well.
    Other calls are made at once, behind those that wait for the meter.

    Copies and pickled meters are of the class of the meter, and up to date.

    Raises TypeError where the class of the meter cannot be exchanged: one with ``__slots__``, or not written in Python.
    """
    kind: Any = type(meter)
    meter.__class__ = _deferring(kind, frozenset(methods or ("update",)), numbers)
    return meter


@functools.cache
def _deferring(kind: Any, methods: frozenset[str], numbers: bool) -> Any:
    """A class like this one, of which these methods wait for their numbers."""

    def look_up(meter: Any, name: str) -> Any:
        if name not in methods:
            _update(meter)
            return kind.__getattribute__(meter, name)

        def call(*arguments: Any, **options: Any) -> None:
            method = kind.__getattribute__(meter, name)
            kept = {key: _kept(value) for key, value in options.items()}
            update = _Update(meter, method, tuple(map(_kept, arguments)), kept, numbers)
            if update.may_wait():
                _wait(update)
                return
            _update(meter)
            if numbers:
                _make([update])
            else:
                method(*arguments, **options)

        return call

    def assign(meter: Any, name: str, value: object) -> None:
        _update(meter)
        kind.__setattr__(meter, name, value)

    def reduce(meter: Any, _protocol: Any) -> Any:
        _update(meter)
        made, given, *state = kind.__reduce_ex__(meter, 1)  # later ones are tied to the class of the object
        return (made, tuple(kind if item is type(meter) else item for item in given), *state)

    own = {"__getattribute__": look_up, "__setattr__": assign, "__reduce_ex__": reduce, "__module__": kind.__module__}
    return type(kind.__name__, (kind,), own)


def _kept(value: Any) -> Any:
    """A tensor without what its gradient would need. A copy of it would be one more operation of the step's graph.

    A part of what was changed in place, ``correct.mul_(100 / n)[0]``, is else taken out of it when it is fetched: by a
    graph of its own, another one for each number of calls that wait.
    """
    if not _is_on_device(value):
        return value
    kept, functions = value.detach(), cast(Any, torch)
    functions._sync(kept)  # private: a test fails when a version has it no longer
    return kept


def _is_on_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "xla"


def _wait(update: _Update) -> None:
    _waiting.append(update)
    _behind.add(id(update.meter))
    if len(_waiting) >= _MOST_WAITING:
        _update_first(_MOST_WAITING // 2)  # the newer ones may be of a step that is not run yet


def _update(meter: object) -> None:
    """Make all calls that wait, if one of them is the meter's."""
    if id(meter) in _behind:
        _update_first(len(_waiting))


def _update_first(count: int) -> None:
    """Make the first of the calls that wait."""
    updates = _waiting[:count]
    del _waiting[:count]
    _behind.clear()  # first: the methods of a meter look at it
    _make(updates)
    _behind.update(id(update.meter) for update in _waiting)


def _make(updates: list[_Update]) -> None:
    tensors = [tensor for update in updates for tensor in update.on_device()]
    # Host sync, deliberate: somebody looks at the numbers, or they cannot wait.
    fetched = iter(current(tensors).fetch(tensors) if tensors else ())
    for update in updates:
        update.make(fetched)
