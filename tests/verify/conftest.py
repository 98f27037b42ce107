"""What the tests of ``tpulint verify`` share: a Python that has torch_xla, and runs of the planted scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from xla_flags import QUICKLY

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from verifying import HAS_XLA, XLA_PYTHON  # noqa: E402 - its folder must be on the import path

SCRIPTS = HERE / "scripts"
RUNTIME = HERE.parent.parent / "runtime"
PARTS = "parts.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without torch_xla, what needs it is skipped."""
    for item in items:
        if not HAS_XLA and HERE in item.path.parents and item.get_closest_marker("xla"):
            item.add_marker(pytest.mark.skip(reason="torch_xla is not installed (extra xla)"))


@pytest.fixture(scope="session")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records of all planted scripts, in a folder per script."""
    folder = tmp_path_factory.mktemp("observed")
    scripts = [str(path) for path in sorted(SCRIPTS.glob("*.py")) if path.name != PARTS]
    done = subprocess.run(
        [XLA_PYTHON, str(HERE / "observe_scripts.py"), str(folder), *scripts],
        cwd=SCRIPTS,
        env={
            **os.environ,
            "XLA_FLAGS": QUICKLY,
            "PYTHONPATH": str(RUNTIME),
            "PJRT_DEVICE": "CPU",
            "CUDA_VISIBLE_DEVICES": "",
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
