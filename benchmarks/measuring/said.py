"""What the linter says of a script's files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from measuring.layout import Layouts
from measuring.scripts import REPOSITORY


class Said(NamedTuple):
    """A finding."""

    code: str
    name: str
    category: str
    path: str
    row: int
    rows: frozenset[int]
    """Rows of all statements that it speaks of."""
    message: str


def findings(root: Path, paths: Sequence[str], layouts: Layouts) -> Iterator[Said]:
    """What the linter says of these files, which it is given together as a user would give them."""
    command = [sys.executable, "-m", "tpulint", "check", "--isolated", "--no-cache", "--output-format", "json", *paths]
    folders = (REPOSITORY, REPOSITORY / "rules", REPOSITORY / "runtime")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"the linter failed: {done.stderr[-500:]}")
    for found in json.loads(done.stdout):
        path = Path(found["filename"]).resolve().relative_to(root.resolve()).as_posix()
        layout = layouts.of(path)
        row = found["location"]["row"]
        rows = {row, *(place["location"]["row"] for place in found["related"])}
        rows |= {layout.statement(one) for one in rows}
        yield Said(found["code"], found["name"], found["group"], path, row, frozenset(rows), found["message"])
