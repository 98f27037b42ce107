"""What is different in the calls of two steps."""

from __future__ import annotations

from collections import deque
from numbers import Number
from typing import Any

import torch
from torch.overrides import resolve_name

from tpulint_runtime.calls import Call, CallLog, Entry
from tpulint_runtime.graphs import Graph, Operation, Place, explain, nearest
from tpulint_runtime.ownership import Line
from tpulint_runtime.report import Difference, Wait

_KEPT = 8
"""Steps that a new one is compared with."""
_INDEXING = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)

Argument = tuple[Any, Any, int, int]
"""An argument of a call, wherever its value changes: function, code and row of the call, and its position."""


class StepCalls:
    """The calls of the steps that needed a graph, and what may change without one."""

    def __init__(self, log: CallLog) -> None:
        self._log = log
        self._previous: list[Entry] = []
        """Of the step before."""
        self._earlier: deque[list[Entry]] = deque(maxlen=_KEPT)
        """Of steps that compiled, the latest."""
        self._free: set[Argument] = set()
        """Arguments that changed in steps that compiled nothing: they are inputs of a graph, not part of it."""

    def end_step(self, has_compiled: bool) -> tuple[Difference | None, tuple[Wait, ...]]:
        """Take in a step that ended: the first difference to the one most like it, if it compiled, and the calls that
        made the host wait."""
        self._log.is_on = False
        difference = self._compare(has_compiled)
        waits: dict[tuple[str, Line | None], int] = {}
        for function, line, work in self._log.charges:
            place = (name_of(function), line)
            waits[place] = waits.get(place, 0) + max(work.reads, work.extra_launches)
        if difference is None and has_compiled:
            own = [one for one in self._log.charges if one.work.compiles]
            if own:
                difference = Difference("read", f"{name_of(own[0].function)} ran a graph of its own", own[0].line)
        return difference, tuple(Wait(call, line, times) for (call, line), times in waits.items())

    def _compare(self, has_compiled: bool) -> Difference | None:
        calls = self._log.calls
        difference = None
        if has_compiled:
            difference = self._explain(calls)
            self._earlier.append(calls)
        elif self._previous and calls != self._previous:
            self._learn(calls)
        self._previous = calls
        return difference

    def _learn(self, calls: list[Entry]) -> None:
        for index, (before, after) in enumerate(zip(self._previous, calls, strict=False)):
            if before != after and _is_alike(before, after):
                call = Call(*after)
                for position, (old, new) in enumerate(zip(Call(*before).arguments, call.arguments, strict=True)):
                    if isinstance(new, Number) and not _is_same(old, new) and not self._had(index, position, new):
                        self._free.add((call.function, call.code, call.row, position))

    def _had(self, index: int, position: int, value: Any) -> bool:
        """Whether there may be a graph with that value already: then it proves nothing that none was compiled."""
        for calls in self._earlier:
            arguments = Call(*calls[index]).arguments if index < len(calls) else ()
            if position < len(arguments) and _is_same(arguments[position], value):
                return True
        return False

    def _explain(self, calls: list[Entry]) -> Difference | None:
        earlier = [one for one in (*self._earlier, self._previous) if one]
        if not earlier:
            return None
        # What has changed before without a compilation is looked at last.
        for candidates in ([self._without_free(one, calls) for one in earlier], earlier):
            graphs = [_graph(one, self._log) for one in candidates]
            after = _graph(calls, self._log)
            before = nearest(after, graphs)
            if before.operations == after.operations:
                continue
            cause = explain(before, after)
            line = next((Line(*place, "") for place in cause.places), None)
            return Difference(cause.kind, cause.text, line)
        return None

    def _without_free(self, before: list[Entry], after: list[Entry]) -> list[Entry]:
        """Earlier calls with the new values where values may change."""
        if not self._free:
            return before
        made = []
        for old, new in zip(before, after, strict=False):
            if old != new and _is_alike(old, new):
                call, place = Call(*old), new[:3]
                arguments = tuple(
                    [
                        now if (*place, position) in self._free else was
                        for position, (was, now) in enumerate(zip(call.arguments, Call(*new).arguments, strict=True))
                    ]
                )
                old = tuple(call._replace(arguments=arguments))
            made.append(old)
        return made + before[len(made) :]


def _is_alike(one: Entry, other: Entry) -> bool:
    """Whether it is the same call, with other arguments perhaps."""
    before, after = Call(*one), Call(*other)
    return one[:3] == other[:3] and before.names == after.names and len(before.arguments) == len(after.arguments)


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) and type(one) is type(other)


def _graph(calls: list[Entry], log: CallLog) -> Graph:
    return Graph((), tuple(_operation(Call(*entry), log) for entry in calls))


def _operation(call: Call, log: CallLog) -> Operation:
    line = log.line_of(call)
    place = Place(line.path, line.row) if line else None
    name = name_of(call.function)
    return Operation(name, _text(call.result), _settings(call), name, place)


def _settings(call: Call) -> tuple[tuple[str, str], ...]:
    by_position = len(call.arguments) - len(call.names)
    settings = []
    for position, value in enumerate(call.arguments):
        if position >= by_position:
            settings.append((call.names[position - by_position], _text(value)))
        elif position == 1 and call.function in _INDEXING:
            settings.append(("index", _index(value)))
        else:
            settings.append((f"argument {position}", _text(value)))
    return tuple(settings)


def name_of(function: Any) -> str:
    """A function of torch as one writes it: ``Tensor.item``, ``torch.zeros``, ``F.dropout``."""
    name = resolve_name(function) or getattr(function, "__qualname__", str(function))
    name = name.replace("torch.Tensor.", "Tensor.").replace("torch.nn.functional.", "F.")
    return str(name)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        if len(value) == 2 and isinstance(value[1], torch.dtype):
            return f"{tuple(value[0])} {_dtype(value[1])}"
        if value and value[0] is slice:
            return _index(value)
        return f"({', '.join(map(_text, value))})"
    if isinstance(value, torch.dtype):
        return _dtype(value)
    return value.__name__ if isinstance(value, type) else repr(value)


def _dtype(value: torch.dtype) -> str:
    return str(value).removeprefix("torch.")


def _index(value: Any) -> str:
    """As it is written between the brackets."""
    if isinstance(value, tuple) and value and value[0] is slice:
        start, stop, step = ("" if bound is None else _text(bound) for bound in value[1:])
        return f"{start}:{stop}" + (f":{step}" if step else "")
    is_tensor = isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], torch.dtype)
    if isinstance(value, tuple) and not is_tensor:
        return ", ".join(map(_index, value))
    return "..." if value is ... else _text(value)
