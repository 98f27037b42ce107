"""Facts about torch_xla that a program finds out, run by an interpreter that has it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import pytest
import warm_python

PYTHON = os.environ.get("TPULINT_XLA_PYTHON", sys.executable)


def facts_of(program: str) -> dict[str, Any]:
    """What a program prints behind ``FACTS`` on XLA:CPU; the test is skipped where there is no torch_xla.

    The checks before a merge refuse a test that is skipped for that.
    """
    if "TPULINT_XLA_PYTHON" not in os.environ and importlib.util.find_spec("torch_xla") is None:
        pytest.skip("torch_xla is not installed")
    environment = {**os.environ, "PJRT_DEVICE": "CPU", "CUDA_VISIBLE_DEVICES": ""}
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as output:
        warm_python.serve(PYTHON)
        process = warm_python.WarmProcess(
            [PYTHON, "-u", "-c", program],
            env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        status = process.wait()
        printed = output.read()
    assert status == 0, printed[-2000:]
    line = next(line for line in printed.splitlines() if line.startswith("FACTS"))
    found: dict[str, Any] = json.loads(line.removeprefix("FACTS"))
    return found
