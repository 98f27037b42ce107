"""The order in which files are examined: those that call before those that are called, as their imports tell."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence

from tpulint.disk import read
from tpulint.import_statements import imports_in
from tpulint.model import WORDS_OF_CALLERS
from tpulint.module_paths import ModulePaths

_BOUNDARIES = (b"torch_xla.sync(", b"torch_xla.step(", b"mark_step(")
"""What ends the steps of a loop, those of a function of another file among them."""
_CALLERS = (*(word.encode() for word in WORDS_OF_CALLERS), *_BOUNDARIES)
_PROGRAM = b"__main__"
"""What only a file that is run holds; hardly any other file calls it."""


def in_call_order(paths: Sequence[str]) -> list[list[str]]:
    """The files in groups that import nothing of each other, each in order.

    Who is in a group with nobody else is neither called in the turns of loops nor calls anybody.
    """
    return [list(paths)] if len(paths) == 1 else _Imports(paths).groups()


def may_call(data: bytes) -> bool:
    """Whether a file may have a loop whose turns matter, or hand anything to such loops."""
    return any(word in data for word in _CALLERS)


class _Imports:
    """Which files of a run import which, read off the text: what is read wrong costs time and nothing else."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._given = {os.path.abspath(path): path for path in paths}
        self._places = ModulePaths()
        self._folders = _folders_of(self._given)
        self._firsts = {name for path in self._given for name in _names_of(path)}
        self._imported: dict[str, list[str]] = {}
        self._late: dict[str, list[str]] = {}
        """What is imported within functions, mostly because imports at the top would run in a circle."""

    def groups(self) -> list[list[str]]:
        """See ``in_call_order``."""
        found: dict[str, list[str]] = {}
        order = self._callers_first()
        home = self._groups_of(order)
        for path in (*order, *(path for path in self._given if path not in home)):
            found.setdefault(home.get(path, path), []).append(self._given[path])
        return list(found.values())

    def _callers_first(self) -> list[str]:
        """Files with loops and all that they import; where imports run in a circle, programs stand first."""
        programs: list[str] = []
        others: list[str] = []
        for path in self._given:
            data = _data_of(path)
            if may_call(data):
                (programs if _PROGRAM in data else others).append(path)
                self._read_imports(path, data)
        callers = dict.fromkeys((*programs, *others))
        order = self._sorted(callers, {}, callers)
        imported = dict.fromkeys(order)
        for path in imported.copy():
            imported.update(dict.fromkeys(self._late[path]))
        return [*order, *self._sorted(imported, dict.fromkeys(order), callers)]

    def _sorted(self, starts: Iterable[str], done: dict[str, None], callers: Collection[str]) -> list[str]:
        """Files and all that they import at their top, those ``done`` left out, each before what it imports."""
        finished: dict[str, None] = {}
        begun = set(done)
        for start in starts:
            waiting = [start]
            while waiting:
                path = waiting[-1]
                if path not in begun:
                    begun.add(path)
                    found = [other for other in self._imports_of(path) if other not in begun]
                    # What is followed last comes first: of modules side by side, those that may call the others.
                    waiting.extend(sorted(found, key=lambda other: other not in callers))
                elif waiting.pop() not in done:
                    finished.setdefault(path)
        return [*finished][::-1]

    def _groups_of(self, paths: Iterable[str]) -> dict[str, str]:
        """For each file one that stands for its group."""
        group: dict[str, list[str]] = {}
        for path in paths:
            group.setdefault(path, [path])
            for other in (*self._imports_of(path), *self._late[path]):
                mine, theirs = sorted((group[path], group.setdefault(other, [other])), key=len)
                if mine is not theirs:
                    theirs.extend(mine)
                    group.update(dict.fromkeys(mine, theirs))
        return {path: members[0] for path, members in group.items()}

    def _imports_of(self, path: str) -> list[str]:
        """Other files of the run that a file imports at its top, by absolute path."""
        if path not in self._imported:
            self._read_imports(path, _data_of(path))
        return self._imported[path]

    def _read_imports(self, path: str, data: bytes) -> None:
        found: tuple[dict[str, None], dict[str, None]] = ({}, {})
        for one in imports_in(data):
            if one.level or one.name.partition(".")[0] in self._firsts:
                found[one.is_late].update(self._files(path, one.level, one.name))
        for files in found:
            files.pop(path, None)
        self._imported[path], self._late[path] = [*found[0]], [*found[1]]

    def _files(self, importer: str, level: int, name: str) -> dict[str, None]:
        """The file of the run that a module is, if it is one."""
        if level or name.partition(".")[0] in self._firsts:
            for place in self._places.of(importer, level, name, self._folders.__contains__):
                if place in self._given:
                    return {place: None}
        return {}


def _folders_of(paths: Iterable[str]) -> set[str]:
    """Folders that files lie in, and those that these lie in."""
    found: set[str] = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in found:
            found.add(folder)
            folder = os.path.dirname(folder)
    return found


def _names_of(path: str) -> Iterator[str]:
    """What an absolute import of a file may begin with."""
    yield from os.path.splitext(path)[0].split(os.sep)[1:]


def _data_of(path: str) -> bytes:
    try:
        return read(path).data
    except OSError:
        return b""
