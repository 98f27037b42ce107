"""A Python that has imported torch, for the processes that ``tpulint verify`` and ``tpulint plan`` start.

Importing torch, and what torch_xla imports of it, takes 8 s of CPU, most of what a short script needs. The observer
imports torch before the script is run, so that the script finds it imported in either case; torch_xla is not imported.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import multiprocessing.process
import os
import runpy
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import IO, Any

FORKING = Path(__file__).with_name("forking.py")
READ_AT_START = ("PYTHONHASHSEED", "PYTORCH_JIT")
"""Variables that Python or torch looks at once. Processes that differ in them have servers of their own."""
SOCKETS = "WARM_PYTHON_SOCKETS"
"""Variable with the folder of the servers' sockets, for processes that did not start the servers."""
SECONDS_TO_START = 120


class WarmProcess:
    """Stands in for ``subprocess.Popen`` of ``python -u -c CODE ARGUMENT...``, with its output in a file."""

    def __init__(
        self, command: list[str], *, env: dict[str, str], stdin: int, stdout: IO[Any], stderr: int,
        start_new_session: bool,
    ) -> None:  # fmt: skip
        assert command[1:3] == ["-u", "-c"] and stdin == subprocess.DEVNULL and stderr == subprocess.STDOUT
        assert start_new_session
        self._server = _connect(env)
        self._told = b""
        wish = {"code": command[3], "arguments": command[4:], "environment": env, "folder": os.getcwd()}
        self._server.sendall(json.dumps(wish | {"output": stdout.name}).encode() + b"\n")
        self.pid = int(self._line(None) or 0)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Exit status, or None as long as it runs."""
        return self._look(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Exit status. Raises ``subprocess.TimeoutExpired``."""
        status = self._look(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("python", timeout or 0.0)
        return status

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            line = self._line(timeout)
            if line is not None:
                self.returncode = int(line)
                self._server.close()
        return self.returncode

    def _line(self, timeout: float | None) -> str | None:
        """The next line that the server tells; None where none comes in time."""
        until = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._told:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._server], [], [], left)[0]:
                return None
            told = self._server.recv(100)
            assert told, "the server has ended"
            self._told += told
        line, self._told = self._told.split(b"\n", 1)
        return line.decode()


def stand_in() -> ModuleType:
    """Stands in for the module ``subprocess`` where its ``Popen`` is to start warm processes."""
    warm = ModuleType("subprocess")
    warm.__dict__.update(subprocess.__dict__, Popen=WarmProcess)
    return warm


def serve(python: str, **read_at_start: str) -> str:
    """Starts a server unless there is one for these values of ``READ_AT_START``. Returns the folder of all sockets."""
    _start(python, tuple(read_at_start.items()))
    return _folder()


@functools.cache
def _start(python: str, read_at_start: tuple[tuple[str, str], ...]) -> subprocess.Popen[bytes]:
    """It ends when this process does, with its standard input."""
    plain = {key: value for key, value in os.environ.items() if key not in (*READ_AT_START, "PYTHONPATH")}
    command = [python, str(Path(__file__)), _socket(_folder(), dict(read_at_start))]
    return subprocess.Popen(command, env=plain | dict(read_at_start), stdin=subprocess.PIPE)


@functools.cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="warm-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _socket(folder: str, env: dict[str, str]) -> str:
    """Path of the socket for what is read at start."""
    return os.path.join(folder, "-".join(env.get(name, "") for name in READ_AT_START) + ".socket")


def _connect(env: dict[str, str]) -> socket.socket:
    """A connection to the server for these variables, which may have to start yet."""
    client = socket.socket(socket.AF_UNIX)
    until = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            client.connect(_socket(os.environ.get(SOCKETS) or _folder(), env))
            return client
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def become(wish: dict[str, Any]) -> None:
    """Make this process one that Python started for the code."""
    os.setsid()
    for stream, name, flags in ((0, os.devnull, os.O_RDONLY), (1, wish["output"], os.O_WRONLY | os.O_APPEND)):
        opened = os.open(name, flags)
        os.dup2(opened, stream)
        os.close(opened)
    os.dup2(1, 2)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=True)
    os.environ.clear()
    os.environ.update(wish["environment"])
    os.chdir(wish["folder"])
    multiprocessing.process.ORIGINAL_DIR = wish["folder"]
    sys.argv = ["-c", *wish["arguments"]]
    sys.path[:1] = ["", *filter(None, wish["environment"].get("PYTHONPATH", "").split(os.pathsep))]
    tempfile.tempdir = None


if __name__ == "__main__":
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    forking = runpy.run_path(str(FORKING))
    for module in forking["HEAVY"]:
        importlib.import_module(module)
    wish = forking["serve_clients"](listener)
    become(wish)
    forking["run_and_leave"](lambda: exec(wish["code"], {"__name__": "__main__"}))
