"""Runs the tests of this folder in the interpreter named by TPULINT_XLA_PYTHON, for there is no torch_xla here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ELSEWHERE = os.environ.get("TPULINT_XLA_PYTHON", "")


@pytest.mark.xla
@pytest.mark.slow
@pytest.mark.skipif(not ELSEWHERE, reason="torch_xla is not installed (extra xla)")
def test_runtime_in_the_interpreter_with_xla() -> None:
    has_tools = [ELSEWHERE, "-c", "import pytest, hypothesis"]
    if subprocess.run(has_tools, capture_output=True, check=False).returncode:
        pytest.skip(f"{ELSEWHERE} has torch_xla, but not pytest and hypothesis")
    done = subprocess.run(
        [ELSEWHERE, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE)],
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_elsewhere" not in done.stdout, "that interpreter has no torch_xla either"
