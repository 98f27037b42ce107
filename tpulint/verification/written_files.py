"""Files that a run has left in the working directory, where the next run may read them."""

from __future__ import annotations

import os
from collections.abc import Iterator

_LOOKED_AT = 20_000
"""Files and folders that are looked at."""
_PASSED_OVER = ("__pycache__",)


def written_since(folder: str, moment: float) -> list[str]:
    """Files below a folder that were written after a moment, in seconds since the epoch, sorted.

    Hidden files are passed over, and of a very large folder the rest.
    """
    found = []
    for number, entry in enumerate(_entries(folder)):
        if number >= _LOOKED_AT:
            break
        try:
            if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime >= moment:
                found.append(os.path.relpath(entry.path, folder))
        except OSError:
            continue  # gone meanwhile
    return sorted(found)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            seen = [entry for entry in entries if not entry.name.startswith(".") and entry.name not in _PASSED_OVER]
    except OSError:
        return
    yield from seen
    for entry in seen:
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(entry.path)
