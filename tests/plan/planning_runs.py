"""Runs ``tpulint plan SCRIPT`` with Pythons that have torch_xla, and jax and libtpu."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
SCRIPTS = HERE / "scripts"
XLA_PYTHON = os.environ.get("TPULINT_XLA_PYTHON", sys.executable)
COMPILER_PYTHON = os.environ.get("TPULINT_COMPILER_PYTHON", sys.executable)
"""Set the variables where torch_xla, or jax and libtpu, live elsewhere."""
HAS_XLA = "TPULINT_XLA_PYTHON" in os.environ or importlib.util.find_spec("torch_xla") is not None
HAS_COMPILER = "TPULINT_COMPILER_PYTHON" in os.environ or all(
    importlib.util.find_spec(name) is not None for name in ("jax", "libtpu")
)


class Answer(NamedTuple):
    """What the command gave back."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """What ``--output-format json`` printed."""
        assert self.out.startswith("{"), self.out + self.err
        data: dict[str, Any] = json.loads(self.out)
        return data


def plan(script: str | Path, *arguments: str, folder: Path, compiler: str = COMPILER_PYTHON) -> Answer:
    """Plan a script; the cache, and temporary files, lie in a folder."""
    paths = [str(REPOSITORY / name) for name in (".", "rules", "runtime")]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("TPULINT_", "PJRT_"))}
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(scratch)}
    done = subprocess.run(
        [
            sys.executable, "-m", "tpulint", "plan", str(SCRIPTS / script), "--python", XLA_PYTHON,
            "--compiler-python", compiler, "--cache-dir", str(folder / "cache"), *arguments,
        ],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert not list(scratch.iterdir()), "temporary files were left behind"
    return Answer(done.returncode, done.stdout, done.stderr)
