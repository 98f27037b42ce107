"""Reads the stack that a process wrote down when its time was nearly up."""

from __future__ import annotations

import os
import re

from tpulint.verification.records import Line

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')


def line_of_stack(stack: str, root: str) -> Line | None:
    """The innermost line of the user's code; that of the main thread, which is written last, before others'."""
    found: Line | None = None
    is_new_thread = True
    for text in stack.splitlines():
        frame = _FRAME.match(text)
        if frame is None:
            is_new_thread = True
            continue
        path = os.path.realpath(os.path.join(root, frame[1]))
        if is_new_thread and path.startswith(root.rstrip(os.path.sep) + os.path.sep) and "site-packages" not in path:
            found = Line(path, int(frame[2]), frame[3])
            is_new_thread = False
    return found
