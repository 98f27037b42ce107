"""Follows no lines while a library is imported: torch_xla makes millions of calls then, and none reaches a device."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_LOADER: Any = importlib.machinery.SourceFileLoader
_run = _LOADER.exec_module


def pause(is_own: Callable[[str], object], resume: Callable[[], None]) -> None:
    """Take the trace function out while the module of a library runs; ``resume`` puts it back, in the same thread."""

    def exec_module(loader: Any, module: ModuleType) -> None:
        if sys.gettrace() is None or is_own(loader.path):
            _run(loader, module)
            return
        sys.settrace(None)
        try:
            _run(loader, module)
        finally:
            resume()

    # Python leaves rows of the import machinery out of tracebacks, and knows them by the name of their file.
    exec_module.__code__ = exec_module.__code__.replace(co_filename=_run.__code__.co_filename)
    _LOADER.exec_module = exec_module


def restore() -> None:
    """Import as before."""
    if _LOADER.exec_module is not _run:
        del _LOADER.exec_module
