"""Files outside of a run that may call what its files define: a hook is given only the files that changed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator

from tpulint.disk import read
from tpulint.module_paths import project_top

_MOST_FOLDERS = 200
_MOST_FILES = 500
_LONGEST = 200_000


def neighbours(
    paths: Collection[str],
    exclude: Collection[str],
    may_call: Callable[[bytes], bool],
    known: Collection[str] = (),
    searched: Collection[str] = (),
) -> list[str]:
    """Other files of the projects of these files that may call and name one of the files, sorted.

    Those ``known`` already, by absolute path, are not read, nor is anything in folders ``searched`` for files before.
    The search is bounded: in a project larger than the bound, what lies far from its top is not found.
    """
    stems = {_stem(path) for path in paths}
    named = re.compile(rb"\b(?:" + b"|".join(re.escape(os.fsencode(stem)) for stem in sorted(stems)) + rb")\b")
    given = {os.path.abspath(path) for path in paths}
    inside = tuple(os.path.join(folder, "") for folder in searched)
    found = []
    for top in sorted({project_top(os.path.dirname(path)) for path in given}):
        if os.path.join(top, "").startswith(inside):
            continue
        for path in python_files(top, exclude):
            if path in given or path in known:
                continue
            try:
                data = read(path).data
            except OSError:
                continue
            if may_call(data) and named.search(data):
                found.append(path)
    return sorted(found)


def names_taken(path: str, names: Collection[str]) -> set[str]:
    """Those of these names of a file that other files of its project may import from it, with ``import *`` all."""
    if not os.path.isfile(path):
        return set()
    own, stem = os.path.abspath(path), re.escape(os.fsencode(_stem(path)))
    statement = re.compile(
        rb"^[ \t]*from[ \t]+[.\w]*\b" + stem + rb"[ \t]+import\b[ \t]*(\([^)]*|[^\n]*)", re.MULTILINE
    )
    words: set[bytes] = set()
    for other in python_files(project_top(os.path.dirname(own)), ()):
        if other == own:
            continue
        try:
            data = read(other).data
        except OSError:
            continue
        for taken in statement.findall(data):
            words.update(re.findall(rb"\w+|\*", taken))
    return {name for name in names if b"*" in words or name.encode() in words}


def _stem(path: str) -> str:
    """What an import calls a file: of a package, its folder."""
    name = os.path.splitext(os.path.basename(path))[0]
    return name if name != "__init__" else os.path.basename(os.path.dirname(os.path.abspath(path)))


def python_files(top: str, exclude: Collection[str]) -> Iterator[str]:
    """Python files below a folder, those nearest to it first, as far as the search goes."""
    folders, files = [top], 0
    for folder in folders:  # grows while it is walked: the nearest first
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name in exclude or entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if len(folders) < _MOST_FOLDERS:
                    folders.append(entry.path)
            elif entry.name.endswith(".py") and entry.is_file(follow_symlinks=False):
                try:
                    size = entry.stat(follow_symlinks=False).st_size
                except OSError:
                    continue  # deleted meanwhile
                if size > _LONGEST:
                    continue
                files += 1
                if files > _MOST_FILES:
                    return
                yield entry.path
