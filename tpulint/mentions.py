"""Files of a project that have a word in them, wherever they lie."""

from __future__ import annotations

import os
import re

from tpulint.config import DEFAULT_EXCLUDE
from tpulint.disk import read
from tpulint.library import Stamp, stamp_of_file
from tpulint.neighbours import python_files
from tpulint.records import NamedTuple


class Mentions(NamedTuple):
    """Where a word stands."""

    paths: tuple[str, ...]
    """Absolute paths of the files, in the order in which the project is searched."""
    seen: dict[str, Stamp]
    """The files and folders that say so, as they were."""


def mentions_below(top: str, word: str) -> Mentions:
    """Look for a word in the Python files below a folder."""
    wanted = re.compile(rb"\b" + re.escape(os.fsencode(word)) + rb"\b")
    seen: dict[str, Stamp] = {top: stamp_of_file(top)}
    found = []
    for path in python_files(top, DEFAULT_EXCLUDE):
        seen[path] = stamp_of_file(path)
        folder = os.path.dirname(path)
        if folder not in seen:
            seen[folder] = stamp_of_file(folder)
        try:
            data = read(path).data
        except OSError:
            continue
        if wanted.search(data):
            found.append(path)
    return Mentions(tuple(found), seen)
