"""The Python that scripts are run with, and what it has installed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

_PROBE = """\
import importlib.metadata as m, importlib.util as u, json, sys
def version(name):
    try:
        return m.version(name) if u.find_spec(name) else ""
    except Exception:
        return "unknown"
print(json.dumps([list(sys.version_info[:3]), version("torch"), version("torch_xla")]))
"""
REQUIREMENTS = '"torch==2.9.*" torch_xla==2.9.0'
"""What the extra ``xla`` installs, as arguments of pip."""
_PROBE_SECONDS = 60
_OLDEST = (3, 11)
_START = ("observation", "start.py")


class CannotRun(Exception):
    """Nothing can be run. The message is one sentence that says what to do."""


class Interpreter(NamedTuple):
    """A Python that has torch."""

    path: str
    version: tuple[int, ...]
    torch: str
    torch_xla: str
    """Versions; empty for what is not installed."""


def find(python: str | None) -> Interpreter:
    """The Python to use, looked into. Raises ``CannotRun``."""
    path = python or sys.executable
    if python is not None and os.path.sep not in python:
        path = shutil.which(python) or python
    try:
        done = subprocess.run(
            [path, "-c", _PROBE], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        version, torch, torch_xla = json.loads(done.stdout.strip().splitlines()[-1])
    except OSError as error:
        raise CannotRun(f"cannot run {path}: {error.strerror or error}") from None
    except (ValueError, IndexError, subprocess.TimeoutExpired):
        raise CannotRun(f"{path} does not behave like Python") from None
    found = Interpreter(path, tuple(version), torch, torch_xla)
    if found.version < _OLDEST:
        raise CannotRun(f"{path} is Python {_dotted(version)}; {_dotted(_OLDEST)} or later is needed")
    missing = [name for name, has in (("torch", torch), ("torch_xla", torch_xla)) if not has]
    if missing:
        raise CannotRun(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed for {path}: "
            f"run `{path} -m pip install {REQUIREMENTS}`, or name a Python that has them with --python"
        )
    return found


def observer_script() -> str:
    """Path of the file that starts the observer. Raises ``CannotRun``."""
    spec = importlib.util.find_spec("tpulint_runtime")  # without importing it: that needs torch
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    for folder in folders:
        path = os.path.join(folder, *_START)
        if os.path.isfile(path):
            return path
    raise CannotRun("tpulint_runtime is not installed beside tpulint: install tpulint anew")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
