"""Forks a process for every wish. Servers run this file by its path, so that what they fork sees no folder of tests."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
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


def run_and_leave(run: Callable[[], object]) -> None:
    """Run, and end the process as Python does, but for taking down what was imported: most commands take less long."""
    status: object = None
    try:
        run()
    except SystemExit as told:
        status = told.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if not isinstance(status, int | None):
        print(status, file=sys.stderr)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError):  # it is closed
            stream.flush()
    os._exit(status or 0)
