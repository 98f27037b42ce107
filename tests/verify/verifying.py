"""Runs the real command ``tpulint verify``, in a process of its own, with a Python that has torch_xla."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import warm_python
from xla_flags import QUICKLY

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent

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


def verify(*arguments: str, cwd: Path, python: str = XLA_PYTHON, warm: bool = False) -> Answer:
    """Run the real command in a folder. ``warm`` scripts are run by a Python that has imported torch before."""
    paths = [str(REPOSITORY / name) for name in (".", "rules", "runtime")]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("TPULINT_", "PJRT_"))}
    environment |= {"XLA_FLAGS": QUICKLY, "PYTHONPATH": os.pathsep.join(paths)}
    command = ["-m", "tpulint"]
    if warm:
        settings = {"PYTHONHASHSEED": "0", "PYTORCH_JIT": "0"} if "--against" in arguments else {}
        environment[warm_python.SOCKETS] = warm_python.serve(python, **settings)
        command = [str(HERE / "verify_with_warm_python.py")]
    done = subprocess.run(
        [sys.executable, *command, "verify", "--python", python, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert "tpulint_runtime" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return Answer(done.returncode, done.stdout, done.stderr)
