"""Plain PyTorch: the same tests where torch_xla is not installed at all."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = [pytest.mark.xla, pytest.mark.slow]  # where torch is, torch_xla is

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TESTS = ("test_backend", "test_loop", "test_epochs", "test_sampling", "test_collate", "test_packing")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """For an interpreter that finds what is installed here, but for torch_xla."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for one in Path(folder).iterdir():
            if not one.name.lower().startswith(("torch_xla", "libtpu", "_xlac", "__pycache__")):
                (packages / one.name).symlink_to(one)
    folders = [packages, ROOT, ROOT / "rules", ROOT / "runtime"]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "PYTEST_ADDOPTS": "",
        "HYPOTHESIS_PROFILE": "few",
    }


def test_the_runtime_trains_on_the_cpu(environment: dict[str, str]) -> None:
    # -S: what is installed is found by the path alone.
    python = [sys.executable, "-S"]
    found = "import importlib.util as u; print([u.find_spec(name) is not None for name in ('torch', 'torch_xla')])"
    told = subprocess.run([*python, "-c", found], env=environment, capture_output=True, text=True, check=True).stdout
    assert told.strip() == "[True, False]"
    files = [str(HERE / f"{name}.py") for name in TESTS]
    command = [*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout.splitlines()[-1]
