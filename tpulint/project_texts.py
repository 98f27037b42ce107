"""The texts of a project's Python files, and what tells later whether another search would find the same."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tpulint.config import DEFAULT_EXCLUDE
from tpulint.disk import read
from tpulint.library import Stamp, stamp_of_file
from tpulint.neighbours import python_files


def texts_below(top: str, seen: dict[str, Stamp]) -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the Python files below a folder that can be read, in the order of a search.

    Notes in ``seen`` the files and folders that were come by, as they are.
    """
    seen[top] = stamp_of_file(top)
    for path in python_files(top, DEFAULT_EXCLUDE):
        seen[path] = stamp_of_file(path)
        folder = os.path.dirname(path)
        if folder not in seen:
            seen[folder] = stamp_of_file(folder)
        try:
            data = read(path).data
        except OSError:
            continue
        yield path, data
