"""Files of a project that have a word in them, wherever they lie."""

from __future__ import annotations

import os
import re

from tpulint.library import Stamp
from tpulint.project_texts import texts_below
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
    seen: dict[str, Stamp] = {}
    found = [path for path, data in texts_below(top, seen) if wanted.search(data)]
    return Mentions(tuple(found), seen)
