"""Runs the real command in a process of its own, as users do, with rules whose findings never change."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

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
    command = [sys.executable, "-P", "-m", "tpulint", *args]
    env = environment(cwd.parent / "user-cache", **wanted)
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, env=env, timeout=120, check=False)
    out, err = (text.decode("utf-8", "replace").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
    assert "Traceback" not in err, err
    return Answer(done.returncode, out, err, done.stdout)


def write(path: Path, text: str | bytes) -> Path:
    """A file with this content, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
