"""Which files a run is about."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tpulint.config import DEFAULT_INCLUDE, RunSettings
from tpulint.gitignore import FILE_NAMES, IgnoreFile
from tpulint.languages import is_python_script
from tpulint.patterns import path_patterns, with_slashes
from tpulint.records import NamedTuple

_MOST_SCRIPTS = 40
"""Files without a suffix in one folder that are looked at."""


class Problem(NamedTuple):
    """A path that could not be linted, and why; the others are linted all the same."""

    path: str
    message: str
    row: int = 0
    """The line that is to blame; 0 for none."""


class Discovery(NamedTuple):
    """The files of a run."""

    files: tuple[str, ...]
    """Sorted; relative when below the working directory, each real file once."""
    problems: tuple[Problem, ...]


class _Scope(NamedTuple):
    """One ``.gitignore`` in force, with the length of the paths above its patterns."""

    ignore_file: IgnoreFile
    prefix: int


def discover(run: RunSettings) -> Discovery:
    """Find the files of a run: those named, and those below the folders named."""
    search = _Search(run)
    for path in run.paths:
        search.start(path)
    return Discovery(tuple(sorted(shown(path) for path in search.found.values())), tuple(search.problems))


def shown(path: str) -> str:
    """A path as reports write it: relative when below the working directory."""
    inside = os.path.join(os.getcwd(), "")
    return path[len(inside) :] if path.startswith(inside) else path


def is_excluded(path: str, run: RunSettings) -> bool:
    """Whether ``exclude`` covers a path, or a folder above it within the project."""
    excludes = path_patterns(run.exclude + run.extend_exclude)
    path = os.path.abspath(path)
    root = os.path.join(os.path.abspath(run.root), "")
    if excludes.match(path):
        return True
    while path.startswith(root):
        path = os.path.dirname(path)
        if path.startswith(root) and excludes.match(path):
            return True
    return False


class _Search:
    """One walk over the paths of a run."""

    def __init__(self, run: RunSettings) -> None:
        self.found: dict[str, str] = {}
        """Real path to the absolute path under which it was found first."""
        self.problems: list[Problem] = []
        self._run = run
        self._excludes = path_patterns(run.exclude + run.extend_exclude)
        self._includes = path_patterns(run.include + run.extend_include)
        self._walked: set[str] = set()
        self._links: list[tuple[str, tuple[_Scope, ...]]] = []

    def start(self, path: str) -> None:
        """Take in one path from the command line: a file is linted whatever its name."""
        absolute = os.path.abspath(path)
        if self._run.force_exclude and is_excluded(absolute, self._run):
            return
        if os.path.isdir(absolute):
            scopes = tuple(_scopes_above(absolute)) if self._run.respect_gitignore else ()
            self._walk(absolute, scopes)
            # Links come last: what can be reached without one is shown under its own path.
            while self._links:
                self._follow(*self._links.pop(0))
        elif os.path.exists(absolute) and not os.path.isfile(absolute):
            self.problems.append(Problem(shown(absolute), "not a regular file"))  # a pipe would make us wait
        elif os.path.exists(absolute):
            self.found.setdefault(os.path.realpath(absolute), absolute)
        else:
            self._report_missing(absolute)

    def _walk(self, top: str, scopes: tuple[_Scope, ...]) -> None:
        stack = [(top, os.path.realpath(top), scopes)]
        while stack:
            folder, real, scopes = stack.pop()
            if real in self._walked:
                continue
            self._walked.add(real)
            try:
                with os.scandir(folder) as listing:
                    entries = list(listing)
            except OSError as error:
                self.problems.append(Problem(shown(folder), f"cannot list the folder: {error.strerror or error}"))
                continue
            if self._run.respect_gitignore:
                scopes = (*scopes, *_scopes_in(folder, entries))
            scripts = self._scripts_among(entries)
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                is_wanted = is_folder or entry.is_symlink() or self._includes.match(entry.path)
                if not is_wanted and entry.path not in scripts:
                    continue
                if self._excludes.match(entry.path) or _is_ignored(entry.path, is_folder, scopes):
                    continue
                if entry.is_symlink():
                    self._links.append((entry.path, scopes))
                elif is_folder:
                    stack.append((entry.path, os.path.join(real, entry.name), scopes))
                elif entry.is_file(follow_symlinks=False):  # not a pipe or a socket, which would make us wait
                    self.found.setdefault(os.path.join(real, entry.name), entry.path)

    def _scripts_among(self, entries: list[os.DirEntry[str]]) -> set[str]:
        """The programs of Python among files without a suffix, which say so in their first lines.

        None of a folder with many of them: these are data. ``include`` leaves them out where it says what is wanted.
        """
        if self._run.include != DEFAULT_INCLUDE:
            return set()
        named = [entry for entry in entries if "." not in entry.name and entry.is_file(follow_symlinks=False)]
        return {entry.path for entry in named if is_python_script(entry.path)} if len(named) <= _MOST_SCRIPTS else set()

    def _follow(self, link: str, scopes: tuple[_Scope, ...]) -> None:
        if os.path.isdir(link):
            self._walk(link, scopes)
        elif self._includes.match(link):
            if os.path.isfile(link):
                self.found.setdefault(os.path.realpath(link), link)
            elif not os.path.exists(link) and not os.path.basename(link).startswith(".#"):
                # Emacs marks a file being edited by a dangling link ".#name".
                self._report_missing(link)

    def _report_missing(self, path: str) -> None:
        message = "symbolic link to nowhere" if os.path.islink(path) else "no such file or folder"
        self.problems.append(Problem(shown(path), message))


def _is_ignored(path: str, is_folder: bool, scopes: tuple[_Scope, ...]) -> bool:
    for scope in reversed(scopes):  # the nearest file speaks last
        verdict = scope.ignore_file.verdict(with_slashes(path[scope.prefix :]), is_folder)
        if verdict is not None:
            return verdict
    return False


def _scopes_in(folder: str, entries: list[os.DirEntry[str]]) -> Iterator[_Scope]:
    names = {entry.name for entry in entries}
    for name in FILE_NAMES:
        if name in names:
            yield from _read_scope(os.path.join(folder, name), folder)


def _scopes_above(folder: str) -> Iterator[_Scope]:
    """What holds in a folder because of the folders above it, up to the top of the git repository."""
    above = folder
    folders: list[str] = []
    while not os.path.lexists(os.path.join(above, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            return  # no repository
        above = parent
        folders.insert(0, above)
    yield from _read_scope(os.path.join(above, ".git", "info", "exclude"), above)
    for one in folders:
        for name in FILE_NAMES:
            yield from _read_scope(os.path.join(one, name), one)


def _read_scope(path: str, folder: str) -> Iterator[_Scope]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            text = stream.read()
    except OSError:
        return
    yield _Scope(IgnoreFile(text), len(os.path.join(folder, "")))
