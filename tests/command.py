"""Runs the real command in a process of its own, with rules whose findings never change."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

PLUGINS = Path(__file__).parent / "plugins"
"""Holds the package ``acme_rules``; put on the path, so that tests in this process find it as well."""
if str(PLUGINS) not in sys.path:
    sys.path.append(str(PLUGINS))

CONFIG = 'plugins = ["acme_rules"]\nselect = ["ACM"]\n'
"""Configuration under which only rules of acme run."""

SCRIPT = """\
import acme

for x in acme.data():
    acme.drop()
    acme.old(x)
print(acme.keep())
"""
"""Three findings: ACM001 with a safe fix, ACM002 with an unsafe one, ACM003 without a fix."""

FIXED = SCRIPT.replace("    acme.drop()\n", "")
"""What ``--fix`` makes of it."""

UNSAFELY_FIXED = FIXED.replace("acme.old", "acme.new")
"""What ``--fix --unsafe-fixes`` makes of it."""


class Answer(NamedTuple):
    """What the command gave back."""

    status: int
    out: str
    err: str
    raw: bytes
    """Standard output, byte for byte."""


def environment(home: Path, **wanted: str) -> dict[str, str]:
    """Variables for the command: nothing of the user's that would change what it prints."""
    foreign = ("TPULINT_", "GITHUB_", "NO_COLOR", "FORCE_COLOR")
    env = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    first = wanted.pop("PYTHONPATH", str(PLUGINS))
    env["PYTHONPATH"] = os.pathsep.join([first, *filter(None, [env.get("PYTHONPATH")])])
    env["XDG_CACHE_HOME"] = str(home)
    return {**env, "PYTHONIOENCODING": "utf-8", **wanted}


def tpulint(*args: str, cwd: Path, stdin: bytes = b"", **wanted: str) -> Answer:
    """Run ``tpulint`` in a folder; ``wanted`` holds variables of the environment."""
    env = environment(cwd.parent / "user-cache", **wanted)
    # What Python looks at when it starts is for a process that Python starts.
    run = _start if any(name.startswith("PYTHON") for name in wanted) else _fork
    status, raw, errors = run(args, cwd, stdin, env)
    out, err = (text.decode("utf-8", "replace").replace("\r\n", "\n") for text in (raw, errors))
    assert "Traceback" not in err, err
    return Answer(status, out, err, raw)


TIMEOUT = 120


def _start(args: tuple[str, ...], cwd: Path, stdin: bytes, env: dict[str, str]) -> tuple[int, bytes, bytes]:
    command = [sys.executable, "-P", "-m", "tpulint", *args]
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, env=env, timeout=TIMEOUT, check=False)
    return done.returncode, done.stdout, done.stderr


def _fork(args: tuple[str, ...], cwd: Path, stdin: bytes, env: dict[str, str]) -> tuple[int, bytes, bytes]:
    """The same from a process that has imported everything, which is what takes most of the time of a command."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("in", "out", "err")]
        for stream, content in zip(streams, (stdin, b"", b""), strict=True):
            stream.write_bytes(content)
        wish = {"folder": str(cwd), "arguments": args, "environment": env, "streams": [*map(str, streams)]}
        status = ask(_server(), wish, TIMEOUT)
        if status is None:
            raise subprocess.TimeoutExpired(["tpulint", *args], TIMEOUT)
        return status, streams[1].read_bytes(), streams[2].read_bytes()


def ask(server: subprocess.Popen[bytes], wish: dict[str, Any], timeout: float) -> int | None:
    """Exit status of what a server forks for a wish, which leads a group; None where it took too long."""
    assert server.stdin and server.stdout
    server.stdin.write(json.dumps(wish).encode() + b"\n")
    process = int(server.stdout.readline())
    ended = select.select([server.stdout], [], [], timeout)[0]
    if not ended:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.killpg(process, signal.SIGKILL)
    status = int(server.stdout.readline())
    return status if ended else None


@functools.cache
def _server() -> subprocess.Popen[bytes]:
    """Forks the processes of commands. It ends when this one does, with its standard input.

    Nothing of what it answers is read ahead: a status in a buffer here would be waited for in the pipe.
    """
    command = [sys.executable, "-P", str(Path(__file__).with_name("command_server.py"))]
    env = environment(Path.home())
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def write(path: Path, text: str | bytes) -> Path:
    """A file with this content, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
