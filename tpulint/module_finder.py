"""Finds the modules of tpulint by their names alone: a check of one file imports two hundred of them.

Python asks every finder it has for each module, looks through the folder, and works out twice where the compiled file
lies. Here that is known: beside the module, where ``pip`` and Python put it. Whatever is not as expected (no compiled
file, or one of another text) is left to Python, which compiles.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import ModuleType

_PACKAGES = ("tpulint.", "tpulint_rules.")
_HEADER = 16
"""Length of what stands before the code of a compiled file: magic number, flags, time and size of the source."""
_MOST = 1 << 16
"""Bytes that hold most compiled files: nobody has to ask how long they are."""
_READ_ONLY = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class _CompiledLoader(SourceFileLoader):
    """Runs code that was read when the module was found."""

    def __init__(self, name: str, path: str, code: memoryview) -> None:
        super().__init__(name, path)
        self._code = code

    def exec_module(self, module: ModuleType) -> None:
        code = marshal.loads(self._code)
        del self._code  # a loader is used once, and kept as long as its module
        exec(code, module.__dict__)


class ModuleFinder:
    """Finder of compiled modules for ``sys.meta_path``."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the module comes from; None where Python has to look itself."""
        if not path or not name.startswith(_PACKAGES):
            return None
        stem = name.rpartition(".")[2]
        spec = _spec(name, path[0], stem)
        if spec is None:
            folder = f"{path[0]}{os.sep}{stem}"
            spec = _spec(name, folder, "__init__")
            if spec is not None:
                spec.submodule_search_locations = [folder]
        return spec


def install() -> None:
    """Find modules so from now on, unless Python was told to compile in another way or to another place."""
    if not sys.flags.optimize and sys.pycache_prefix is None and ModuleFinder not in sys.meta_path:
        sys.meta_path.insert(0, ModuleFinder)


def _spec(name: str, folder: str, stem: str) -> ModuleSpec | None:
    """What tells of a module in a folder; None where no compiled file of that text lies there."""
    source = f"{folder}{os.sep}{stem}.py"
    cached = f"{folder}{os.sep}__pycache__{os.sep}{stem}.{sys.implementation.cache_tag}.pyc"
    try:
        state = os.stat(source)
        data = _content(cached)
    except OSError:
        return None
    stamp = _four_bytes(int(state.st_mtime)) + _four_bytes(state.st_size)
    if data[:_HEADER] != MAGIC_NUMBER + b"\0\0\0\0" + stamp:
        return None
    spec = ModuleSpec(name, _CompiledLoader(name, source, memoryview(data)[_HEADER:]), origin=source)
    spec.cached = cached
    spec.has_location = True
    return spec


def _content(path: str) -> bytes:
    file = os.open(path, _READ_ONLY)
    try:
        content = os.read(file, _MOST)
        return content if len(content) < _MOST else content + os.read(file, os.fstat(file).st_size)
    finally:
        os.close(file)


def _four_bytes(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")
