"""Which code is the user's own."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple


class Line(NamedTuple):
    """A line of the user's code."""

    path: str
    row: int
    function: str


class Ownership:
    """Tells files of the project from libraries: what lies at or below the script's folder, less what is installed.

    With ``anywhere`` all that is not installed is the user's own.
    """

    def __init__(self, script: str, anywhere: bool = False) -> None:
        self._script = script
        self._main = os.path.realpath(script)
        folder = os.path.dirname(self._main)
        work = os.path.realpath(os.getcwd())
        # A script of a project is often started from the top of it: `python scripts/train.py`.
        self.root = work if _is_below(folder, work) and work != os.path.sep else folder
        if anywhere:
            self.root = os.path.sep
        paths = sysconfig.get_paths()
        installed = {paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"], sys.prefix}
        self._foreign = {os.path.realpath(path) for path in installed}
        self._foreign.discard(self.root)
        self._foreign.add(os.path.dirname(os.path.realpath(__file__)))
        self._known: dict[str, str] = {}

    def path_of(self, code: CodeType) -> str:
        """The absolute path of the user's file that a code object stands in; empty for other code."""
        return self.find(code.co_filename)

    def find(self, name: str) -> str:
        """The same for the name of a file, as it stands in code objects."""
        path = self._known.get(name)
        if path is None:
            path = self._known[name] = self._find(name)
        return path

    def nearest(self, frame: FrameType | None) -> Line | None:
        """The innermost line of the user's code at or above a frame."""
        found = self.nearest_frame(frame)
        if found is None:
            return None
        return Line(self.path_of(found.f_code), found.f_lineno, found.f_code.co_qualname)

    def nearest_frame(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the user's code at or above a frame."""
        while frame is not None and not self.path_of(frame.f_code):
            frame = frame.f_back
        return frame

    def innermost(self, trace: TracebackType | None) -> Line | None:
        """The innermost line of the user's code in a traceback."""
        found = None
        while trace is not None:
            path = self.path_of(trace.tb_frame.f_code)
            if path:
                found = Line(path, trace.tb_lineno, trace.tb_frame.f_code.co_qualname)
            trace = trace.tb_next
        return found

    def _find(self, name: str) -> str:
        if name == self._script:
            return self._main
        if name.startswith("<") or not name:
            return ""
        path = os.path.realpath(name)
        if not _is_below(path, self.root):
            return ""
        if any(_is_below(path, folder) for folder in self._foreign if _is_below(folder, self.root)):
            return ""
        parts = path[len(self.root) :].split(os.path.sep)
        return "" if {"site-packages", "dist-packages"} & set(parts) else path


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.path.sep) + os.path.sep)
