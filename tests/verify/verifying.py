"""Runs the real command ``tpulint verify``, in a process of its own, with a Python that has torch_xla."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from xla_flags import QUICKLY

REPOSITORY = Path(__file__).parent.parent.parent

XLA_PYTHON = os.environ.get("TPULINT_XLA_PYTHON", sys.executable)
"""The interpreter that has torch and torch_xla. Set the variable where the development tools live elsewhere."""
HAS_XLA = "TPULINT_XLA_PYTHON" in os.environ or importlib.util.find_spec("torch_xla") is not None


class Answer(NamedTuple):
    """What ``tpulint verify`` gave back."""

    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """What ``--json`` printed."""
        report: dict[str, Any] = json.loads(self.out)
        return report


def verify(*arguments: str, cwd: Path, python: str = XLA_PYTHON) -> Answer:
    """Run the real command in a folder."""
    paths = [str(REPOSITORY / name) for name in (".", "rules", "runtime")]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("TPULINT_", "PJRT_"))}
    done = subprocess.run(
        [sys.executable, "-m", "tpulint", "verify", "--python", python, *arguments],
        cwd=cwd,
        env={**environment, "XLA_FLAGS": QUICKLY, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert "tpulint_runtime" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return Answer(done.returncode, done.stdout, done.stderr)
