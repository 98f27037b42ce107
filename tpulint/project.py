"""Calls between the files of a run: how often the functions of one file run is known in the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from tpulint.model import OutgoingCall, OutsideCall


class Project:
    """What the files of a project call of each other in the turns of their loops. Paths are compared as absolute."""

    def __init__(self) -> None:
        self._targets: dict[str, set[str]] = {}
        """For each file those that it calls."""
        self._into: dict[str, dict[str, list[OutsideCall]]] = {}
        """Calls into each file, by the file that makes them."""
        self._linted_with: dict[str, tuple[OutsideCall, ...]] = {}

    def note(self, path: str, calls: Sequence[OutgoingCall], linted_with: Sequence[OutsideCall]) -> None:
        """Remember what a file calls, as found when these calls of its own functions were known."""
        path = os.path.abspath(path)
        for target in self._targets.pop(path, ()):
            del self._into[target][path]
        for outgoing in calls:
            if outgoing.path != path:
                self._targets.setdefault(path, set()).add(outgoing.path)
                self._into.setdefault(outgoing.path, {}).setdefault(path, []).append(outgoing.call)
        self._linted_with[path] = tuple(linted_with)

    def calls_into(self, path: str) -> tuple[OutsideCall, ...]:
        """Calls that other files make of the functions of a file, in an order that is always the same."""
        callers = self._into.get(os.path.abspath(path))
        return tuple(sorted({call for calls in callers.values() for call in calls}, key=repr)) if callers else ()

    def called_from(self, path: str) -> list[str]:
        """The files whose functions run in the turns of a file's loops, at any depth, sorted."""
        waiting, found = [os.path.abspath(path)], set[str]()
        while waiting:
            new = self._targets.get(waiting.pop(), set()) - found
            found |= new
            waiting.extend(new)
        return sorted(found)

    def outdated(self, paths: Iterable[str]) -> list[str]:
        """Those of these files that were linted before it was known how they are called."""
        found = []
        for path in paths:
            known = self._linted_with.get(os.path.abspath(path))
            if known is not None and known != self.calls_into(path):
                found.append(path)
        return found
