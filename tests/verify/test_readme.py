"""The commands about verifying that the README shows work as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from verifying import REPOSITORY, XLA_PYTHON

from tpulint.verification.environment import REQUIREMENTS


def commands() -> str:
    """The block of the README."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- verify -->\n```console\n(.*?)```", readme, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.xla
@pytest.mark.slow
def test_commands_of_the_readme(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    command = tmp_path / "tpulint"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tpulint "$@"\n')
    command.chmod(0o755)
    roots = os.pathsep.join(str(REPOSITORY / name) for name in (".", "rules", "runtime"))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands()],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": roots,
            "TPULINT_PYTHON": XLA_PYTHON,
        },
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "losses: 20 compared with examples/train_gpu.py, equal" in done.stdout
    assert done.stdout.endswith("\npassed\n")


def test_advice_installs_what_the_extra_installs() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["project"]["optional-dependencies"]["xla"]
    assert REQUIREMENTS.replace('"', "").split() == wanted
