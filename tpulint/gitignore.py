"""What ``.gitignore`` files leave out, as git reads them.

Written here because each run over a folder needs it: neighbouring patterns become one regular expression, which
answers for ten thousand paths in the time a general library needs to be imported.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import NamedTuple

from tpulint.patterns import translate

FILE_NAMES = (".gitignore", ".ignore")

_LITERAL = re.compile(r"[^*?\[\\]+\Z")
_TRAILING_BLANKS = re.compile(r"(?<!\\)[ \t]+\Z")


class Pattern(NamedTuple):
    """One line of a ``.gitignore``."""

    glob: str
    ignores: bool
    """False for a line with ``!``, which brings a path back."""
    of_folders: bool
    """Whether it speaks about folders only."""
    anchored: bool
    """Whether it is compared with the whole path below the file's folder, not with a name anywhere."""


class Group(NamedTuple):
    """Neighbouring patterns that all ignore, or all bring back, asked as one."""

    ignores: bool
    names: frozenset[str]
    name_regex: re.Pattern[str] | None
    path_regex: re.Pattern[str] | None

    def match(self, path: str, name: str) -> bool:
        """Whether one of the patterns fits."""
        if name in self.names:
            return True
        if self.name_regex is not None and self.name_regex.match(name):
            return True
        return self.path_regex is not None and self.path_regex.match(path) is not None


class IgnoreFile:
    """The patterns of one ``.gitignore``."""

    __slots__ = ("_of_files", "_of_folders")

    def __init__(self, text: str) -> None:
        patterns = [pattern for pattern in map(parse, text.split("\n")) if pattern is not None]
        self._of_folders = _groups(patterns)
        self._of_files = _groups([pattern for pattern in patterns if not pattern.of_folders])

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """True to ignore, False to bring back, None to leave it to other files.

        ``path`` is relative to the folder of the file, with ``/`` between its parts; ``name`` is its last part.
        """
        for group in self._of_folders if is_folder else self._of_files:
            if group.match(path, name):
                return group.ignores
        return None


def parse(line: str) -> Pattern | None:
    """One line; None when it holds no pattern."""
    line = _TRAILING_BLANKS.sub("", line.removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    glob = line.removeprefix("!")
    of_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    anchored = "/" in glob
    glob = glob.removeprefix("/")
    return Pattern(glob, ignores, of_folders, anchored) if glob else None


def _groups(patterns: list[Pattern]) -> list[Group]:
    """The last pattern that fits decides, so the last group comes first."""
    groups = []
    for ignores, neighbours in groupby(patterns, key=lambda pattern: pattern.ignores):
        together = list(neighbours)
        names = [pattern.glob for pattern in together if not pattern.anchored]
        literal = frozenset(name for name in names if _LITERAL.match(name))
        name_regex = _union([name for name in names if name not in literal])
        path_regex = _union([pattern.glob for pattern in together if pattern.anchored])
        groups.append(Group(ignores, literal, name_regex, path_regex))
    return groups[::-1]


def _union(globs: list[str]) -> re.Pattern[str] | None:
    if not globs:
        return None
    return re.compile("|".join(f"(?:{translate(glob)})\\Z" for glob in globs), re.DOTALL)
