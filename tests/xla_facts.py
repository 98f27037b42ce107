"""Facts about torch_xla that a program finds out, run by an interpreter that has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

PYTHON = os.environ.get("TPULINT_XLA_PYTHON", sys.executable)


def facts_of(program: str) -> dict[str, Any]:
    """What a program prints behind ``FACTS`` on XLA:CPU; the test is skipped where there is no torch_xla.

    The checks before a merge refuse a test that is skipped for that.
    """
    environment = {**os.environ, "PJRT_DEVICE": "CPU", "CUDA_VISIBLE_DEVICES": ""}
    if subprocess.run([PYTHON, "-c", "import torch_xla"], capture_output=True, env=environment).returncode:
        pytest.skip("torch_xla is not installed")
    done = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    line = next(line for line in done.stdout.splitlines() if line.startswith("FACTS"))
    found: dict[str, Any] = json.loads(line.removeprefix("FACTS"))
    return found
