"""Makes a Python with torch_xla look like one without."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Sequence
from typing import Any

HIDDEN = "torch_xla"


class Finder:
    """Finds everything but torch_xla."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if name.partition(".")[0] == HIDDEN:
            return None
        return importlib.machinery.PathFinder.find_spec(name, path, target)


def install() -> None:
    """Hides it for the rest of this process."""
    sys.meta_path[:] = [Finder if finder is importlib.machinery.PathFinder else finder for finder in sys.meta_path]
