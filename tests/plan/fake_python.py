"""Stands in for a Python: says what it has installed, and hangs, with two children, when it is to run something.

One of the children leaves its session, as services of loggers do."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

_TEXT = """\
#!{python} -IS
import subprocess, sys, time
if sys.argv[1] == "-c":
    print('[[3, 12, 0], "{torch}", "{torch}"]')
elif sys.argv[1] == "-P" and sys.argv[2] == "-c":
    print('[[3, 12], "{jax}", "{jax}"]')
else:
    sleep = [{python!r}, "-IS", "-c", "import time; time.sleep(600)"]
    children = [subprocess.Popen(sleep, start_new_session=detached) for detached in (False, True)]
    with open({pids!r} + ".part", "w") as file:
        file.write(" ".join(str(one.pid) for one in children) + f" {{__import__('os').getpid()}}")
    __import__("os").replace({pids!r} + ".part", {pids!r})
    time.sleep(600)
"""


def make(folder: Path, torch: str = "2.9.0", jax: str = "0.10.2") -> Path:
    """Write it into a folder; the versions are empty for what it lacks. Numbers of its processes come into ``pids``."""
    path = folder / "python"
    path.write_text(_TEXT.format(python=sys.executable, torch=torch, jax=jax, pids=str(folder / "pids")))
    path.chmod(0o755)
    return path


def outliving(pids: Iterable[int], seconds: float = 10.0) -> list[int]:
    """Those that still run after a while: a signal takes its time on a busy machine."""
    end = time.monotonic() + seconds
    while (left := [pid for pid in pids if _is_alive(pid)]) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _is_alive(pid: int) -> bool:
    """Whether a process still runs; one that nobody waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return os.path.exists(f"/proc/{pid}")
