"""Forks a process for every wish. Servers run this file by its path, so that what they fork sees no folder of tests."""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any


def serve() -> dict[str, Any]:
    """A wish is one line of JSON on standard input. Returns in the forked processes only, with their wish.

    Answers with the number of the process, and then with its exit status.
    """
    gc.freeze()  # or every process visits all that was imported, once more, when it ends: a second for torch
    for line in sys.stdin:
        process = os.fork()
        if not process:
            wish = json.loads(line)
            assert isinstance(wish, dict)
            return wish
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    os._exit(0)
