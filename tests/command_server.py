"""Has imported the linter, and forks a process for every command that is to be run.

Asked by a line of JSON on standard input: ``folder`` to run in, ``arguments``, ``environment``, and the files of the
three ``streams``. Answers with the number of the process, which leads a group of its own,
and then with its exit status.
"""

from __future__ import annotations

import contextlib
import os
import pkgutil
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import tpulint_rules

import tpulint
from tpulint.cli import main

SCRIPT = Path(__file__).parents[1] / "examples" / "train_gpu.py"
FORKING = Path(__file__).with_name("forking.py")
LIBRARIES = ("libcst", "libcst.matchers", "libcst.metadata", "rich.console", "rich.table", "yaml")
FOREIGN = ("tpulint.__main__", "tpulint.server", "tpulint.planning", "tpulint_rules.preludes")
"""Needs more than the linter does, or runs when it is imported."""


def load() -> None:
    """Import what commands import when they need it."""
    for package in (tpulint, tpulint_rules):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(FOREIGN):
                import_module(module.name)
    for library in LIBRARIES:
        import_module(library)


def warm_up() -> None:
    """Check a script: the catalogue is read, and regular expressions are compiled, a fifth of what a command takes."""
    sys.argv = ["tpulint", "--isolated", "--no-cache", "--diff", "--unsafe-fixes", str(SCRIPT)]
    nowhere = open(os.devnull, "w")  # noqa: SIM115 - as long as this process is
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), contextlib.suppress(SystemExit):
        main()


def become(wish: dict[str, Any]) -> None:
    """Make this process one that Python started for the command."""
    os.setsid()
    for stream, name in enumerate(wish["streams"]):
        opened = os.open(name, os.O_WRONLY if stream else os.O_RDONLY)
        os.dup2(opened, stream)
        os.close(opened)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(wish["environment"])
    os.chdir(wish["folder"])
    sys.argv = ["tpulint", *wish["arguments"]]


if __name__ == "__main__":
    load()
    warm_up()
    forking = runpy.run_path(str(FORKING))
    become(forking["serve"]())
    forking["run_and_leave"](lambda: runpy.run_module("tpulint", run_name="__main__", alter_sys=True))
