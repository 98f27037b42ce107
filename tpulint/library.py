"""The other files of a project, found by the imports that name them, read and indexed once a process."""

from __future__ import annotations

import os
import warnings

from tpulint.module_paths import ModulePaths, code_top, scripts_top
from tpulint.source import SourceFile, UnreadableSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from tpulint.configurations import Uses
    from tpulint.mentions import Mentions
    from tpulint.semantic import SemanticIndex

    _Searched = TypeVar("_Searched", Uses, Mentions)

_LONGEST = 200_000
"""Bytes of a file that is still read for the sake of another."""
_MOST_FILES = 64
"""Of a package, one of which a name chooses."""
_KEPT = 150
_KEPT_BYTES = 1_500_000
"""Indexed files that a process remembers, and their text: an index takes up to sixty times as much memory as that.

All go at once, and what is asked for again is read again: a third of the time of a run over libraries, with a quarter
of this.
"""

Stamp = tuple[int, int] | None
"""Time of change in nanoseconds and size of a file; None where there is none."""


class Library:
    """Serves one file after another."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[Stamp, SemanticIndex | None]] = {}
        self._bytes = 0
        self._paths = ModulePaths()
        self._stamps: dict[str, Stamp] = {}
        self._found: dict[tuple[str, int, str], str | None] = {}
        """Files by the imports that name them, as the stamps tell."""
        self._asked: dict[str, set[str]] = {}
        """Files looked for by the imports of a file, those that are not there included."""
        self._uses: dict[tuple[str, str], Uses] = {}
        """Of configurations, by the folder of the project and the key."""
        self._steps: dict[tuple[str, int], tuple[Stamp, bool]] = {}
        """Whether files run a backward pass, by path and how many files deep their imports are followed."""
        self._mentions: dict[tuple[str, str], Mentions] = {}
        """Of words, by the folder of the project and the word."""

    def open(self, *, changed: bool) -> None:
        """Begin with another file. What is on the disk may have ``changed`` since the last one."""
        if changed:
            self._stamps, self._found = {}, {}
        if len(self._files) > _KEPT or self._bytes > _KEPT_BYTES:
            self._close()

    def _close(self) -> None:
        """Let go of all files at once: each may refer to any other."""
        for _, index in self._files.values():
            if index is not None:
                index.is_shared = False
                index.release()
        self._files.clear()
        self._bytes = 0

    def dependencies(self, path: str) -> dict[str, Stamp]:
        """Files that what is known of a file depends on, through those it imports, with what they are now."""
        found: dict[str, Stamp] = {}
        waiting = [os.path.abspath(path)]
        while waiting:
            for asked in self._asked.get(waiting.pop(), ()):
                if asked not in found:
                    found[asked] = self._stamp(asked)
                    waiting.append(asked)
        return found

    def module(self, importer: str, level: int, name: str) -> SemanticIndex | None:
        """The file that an import reads, when it is one of the project and can be read. Never raises."""
        path = self._find(importer, level, name)
        return None if path is None else self._read(path)

    def has(self, importer: str, level: int, name: str) -> bool:
        """Whether an import reads a file of the project; that file itself is not read for it."""
        return self._find(importer, level, name) is not None

    def file(self, importer: str, path: str) -> SemanticIndex | None:
        """A file by its absolute path, which what is known of another depends on. Never raises."""
        self._asked.setdefault(os.path.abspath(importer), set()).add(path)
        return None if self._stamp(path) is None else self._read(path)

    def package(self, importer: str, name: str) -> list[SemanticIndex]:
        """The files of a package of the project, in order of their names; none for what is no package, or a large one.

        Never raises.
        """
        folder = self._folder(os.path.abspath(importer), name)
        if folder is None:
            return []
        try:
            names = sorted(entry for entry in os.listdir(folder) if entry.endswith(".py"))
        except OSError:
            return []
        found = (self.file(importer, os.path.join(folder, name)) for name in names if len(names) <= _MOST_FILES)
        return [index for index in found if index is not None]

    def uses(self, path: str, key: str) -> bool:
        """Whether programs of the project read configurations, and what a key of them says. Never raises."""
        from tpulint.configurations import uses_below

        path = os.path.abspath(path)
        place = scripts_top(os.path.dirname(path)), key
        known = self._searched(path, self._uses, place, uses_below)
        return known.found

    def mentioning(self, path: str, word: str, most: int | None = None) -> list[SemanticIndex] | None:
        """The files of the project of a file that have a word in them; None where one of them cannot be read.

        Nor where there are more than ``most``, which are not read then. Never raises.
        """
        from tpulint.mentions import mentions_below

        path = os.path.abspath(path)
        place = code_top(os.path.dirname(path)), word
        known = self._searched(path, self._mentions, place, mentions_below)
        if most is not None and len(known.paths) > most:
            return None
        found = [self.file(path, other) for other in known.paths]
        read = [index for index in found if index is not None]
        return read if len(read) == len(found) else None

    def imports_steps(self, path: str, text: str) -> bool:
        """Whether a file with this text imports one that runs a backward pass, be it through another. Never raises."""
        return self._imports_steps(os.path.abspath(path), text.encode(errors="replace"), 1)

    def _imports_steps(self, path: str, data: bytes, depth: int) -> bool:
        from tpulint.import_statements import imports_in

        found = (self._find(path, one.level, one.name) for one in imports_in(data))
        return any(self._has_step(other, depth) for other in dict.fromkeys(found) if other is not None)

    def _has_step(self, path: str, depth: int) -> bool:
        """Whether a file runs a backward pass, or imports one that does, so many files deep."""
        from tpulint.disk import read

        key, stamp = (path, depth), self._stamp(path)
        known = self._steps.get(key)
        if known is None or known[0] != stamp:
            self._steps[key] = stamp, False  # imports that run in a circle add nothing
            try:
                data = read(path).data if stamp is not None and stamp[1] <= _LONGEST else b""
            except OSError:
                data = b""
            has_step = b".backward(" in data or (depth > 0 and self._imports_steps(path, data, depth - 1))
            known = self._steps[key] = stamp, has_step
        return known[1]

    def _searched(
        self,
        importer: str,
        kept: dict[tuple[str, str], _Searched],
        place: tuple[str, str],
        search: Callable[[str, str], _Searched],
    ) -> _Searched:
        """What a search of a folder found, made anew where anything that it saw has changed."""
        known = kept.get(place)
        if known is None or any(self._stamp(seen) != stamp for seen, stamp in known.seen.items()):
            known = kept[place] = search(*place)
        self._asked.setdefault(importer, set()).update(known.seen)
        return known

    def known(self, source: SourceFile) -> SemanticIndex | None:
        """The index of this very text, when another file asked for it before."""
        found = self._files.get(os.path.abspath(source.path), (None, None))[1]
        return None if found is None or found.source.text != source.text else found

    def _folder(self, importer: str, name: str) -> str | None:
        """The folder of a package, which need not have an ``__init__.py``; without a name that of the importer."""
        asked = self._asked.setdefault(importer, set())
        if not name:
            asked.add(os.path.dirname(importer))
            return os.path.dirname(importer)
        for path in self._paths.of(importer, 0, name, lambda folder: self._stamp(folder) is not None):
            folder, file = os.path.split(path)
            if file == "__init__.py":
                asked.add(folder)  # which changes with the files in it
                if self._stamp(folder) is not None:
                    return folder
        return None

    def _find(self, importer: str, level: int, name: str) -> str | None:
        key = importer, level, name
        if key not in self._found:
            self._found[key] = self._first(os.path.abspath(importer), level, name)
        return self._found[key]

    def _first(self, importer: str, level: int, name: str) -> str | None:
        asked = self._asked.setdefault(importer, set())

        def has_folder(path: str) -> bool:
            if self._stamp(path) is None:
                asked.add(path)
                return False
            return True

        for path in self._paths.of(importer, level, name, has_folder):
            asked.add(path)
            if self._stamp(path) is not None:
                return path
        return None

    def _stamp(self, path: str) -> Stamp:
        if path not in self._stamps:
            self._stamps[path] = stamp_of_file(path)
        return self._stamps[path]

    def _read(self, path: str) -> SemanticIndex | None:
        stamp = self._stamps[path]
        if stamp is None or stamp[1] > _LONGEST:
            return None
        known = self._files.get(path)
        if known is not None and known[0] != stamp:
            # The others remember what it was. The file that is looked at now may be among them: nothing is let go of.
            self._files, self._bytes, known = {}, 0, None
        if known is None:
            known = self._files[path] = (stamp, self._indexed(path))
            self._bytes += stamp[1]
        return known[1]

    def _indexed(self, path: str) -> SemanticIndex | None:
        from tpulint.disk import read
        from tpulint.semantic import SemanticIndex

        try:
            source = SourceFile.from_bytes(read(path).data, path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                index = SemanticIndex(source, source.parse(), self)
        except (OSError, UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # that file has its own finding when it is linted
        index.is_shared = True
        return index


def stamp_of_file(path: str) -> Stamp:
    """What a file is now; None where there is none."""
    from tpulint.disk import changed_ns

    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return changed_ns(status), status.st_size
