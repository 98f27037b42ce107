"""Forks a process for every wish. Servers run this file by its path, so that what they fork sees no folder of tests."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import select
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, TextIO

HEAVY = ("torch", "torch._functorch.aot_autograd", "torch._inductor.fx_passes.post_grad", "torch._inductor.lowering")
"""What takes long of importing torch and torch_xla, without torch_xla itself: 8 s of CPU."""


def serve() -> dict[str, Any]:
    """Wishes come on standard input, answers go to standard output. Returns in the forked processes only."""
    wish = fork_for(sys.stdin, sys.stdout)
    if wish is None:
        os._exit(0)
    return wish


def serve_clients(listener: socket.socket) -> dict[str, Any]:
    """The same for those who connect, one after the other, as long as standard input is open."""
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        client, _ = listener.accept()
        with client, client.makefile("r") as wishes, client.makefile("w") as answers:
            wish = fork_for(wishes, answers)
        if wish is not None:
            listener.close()
            return wish
    os._exit(0)


def fork_for(wishes: TextIO, answers: TextIO) -> dict[str, Any] | None:
    """A wish is one line of JSON. Returns it in the process that is forked for it, and None after the last.

    Answers with the number of the process, and then with its exit status.
    """
    gc.freeze()  # or every process visits all that was imported, once more, when it ends: a second for torch
    for line in wishes:
        process = os.fork()
        if not process:
            wish = json.loads(line)
            assert isinstance(wish, dict)
            return wish
        print(process, file=answers, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    return None


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
