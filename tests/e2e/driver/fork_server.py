"""Has imported what torch and torch_xla take seconds to import, and forks a process for every script to be run.

torch_xla itself is not imported: a port has to do that. Asked by a line of JSON on standard input: ``folder`` to run
in, ``script``, ``arguments``, ``environment`` and the file for its ``output``. Answers with the number of the process,
which leads a group of its own, and then with its exit status.
"""

from __future__ import annotations

import importlib
import multiprocessing.process
import os
import runpy
import sys
from pathlib import Path
from typing import Any

FORKING = Path(__file__).parents[2] / "forking.py"


def become(wish: dict[str, Any]) -> None:
    """Make this process one that Python started for the script."""
    os.setsid()
    for stream, name, flags in ((0, os.devnull, os.O_RDONLY), (1, wish["output"], os.O_WRONLY | os.O_CREAT)):
        os.dup2(os.open(name, flags), stream)
    os.dup2(1, 2)
    os.environ.clear()
    os.environ.update(wish["environment"])
    os.chdir(wish["folder"])
    multiprocessing.process.ORIGINAL_DIR = wish["folder"]  # where spawned processes look for the script
    sys.argv = [wish["script"], *wish["arguments"]]
    sys.path[0] = wish["folder"]
    del sys.modules["sitecustomize"]  # which did nothing so far
    importlib.import_module("sitecustomize")


if __name__ == "__main__":
    forking = runpy.run_path(str(FORKING))
    for module in forking["HEAVY"]:
        importlib.import_module(module)
    wish = forking["serve"]()
    become(wish)
    forking["run_and_leave"](lambda: runpy.run_path(wish["script"], run_name="__main__"))
