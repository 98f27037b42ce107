"""How the command ends where it cannot do all: told to end, and without the Pythons that it needs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_python import make, outliving
from planning_runs import REPOSITORY, Answer

SHOWS_ALL = """\
import torch
batch_size, seq_len, n_layer, n_embd = 8, 128, 2, 64
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
optimizer = torch.optim.AdamW(model.parameters())
"""
WITH = "import sys; sys.executable = sys.argv.pop(1); from tpulint.cli import main; main()"
"""Runs the command as if it were installed in another Python."""


def environment(folder: Path) -> dict[str, str]:
    scratch = folder / "scratch"
    scratch.mkdir()
    paths = os.pathsep.join(str(REPOSITORY / name) for name in (".", "rules", "runtime"))
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TPULINT_")}
    return {**kept, "PYTHONPATH": paths, "TMPDIR": str(scratch)}


@pytest.mark.parametrize("command", [("plan", "--compiler-python", "./python"), ("verify",)], ids=["plan", "verify"])
def test_nothing_is_left_when_it_is_told_to_end(tmp_path: Path, command: tuple[str, ...]) -> None:
    make(tmp_path)
    (tmp_path / "train.py").write_text("")
    process = subprocess.Popen(
        [sys.executable, "-m", "tpulint", *command, "--python", "./python", "train.py"],
        cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    pids = tmp_path / "pids"
    for _ in range(600):
        if pids.exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    assert pids.exists(), process.communicate(timeout=10)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")
    assert not outliving([*map(int, pids.read_text().split())])
    assert not list((tmp_path / "scratch").iterdir())


def plan_in(python: Path, script: str, folder: Path) -> Answer:
    (folder / "train.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "-c", WITH, str(python), "plan", "train.py", "--output-format", "json"],
        cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("versions", "missing"),
    [({"torch": ""}, "torch and torch_xla are"), ({"jax": ""}, "jax and libtpu are")],
    ids=["torch_xla", "jax"],
)
def test_without_an_extra_the_plan_is_an_estimate(tmp_path: Path, versions: dict[str, str], missing: str) -> None:
    answer = plan_in(make(tmp_path, **versions), SHOWS_ALL, tmp_path)
    assert answer.status == 0, answer.err
    assert answer.err.startswith(f"not compiled: {missing} not installed for {tmp_path / 'python'}: run `")
    assert (answer.data["kind"], answer.data["compiled"]) == ("estimate", False)
    assert answer.data["workload"]["params"] == 2 * (64 * 64 + 64)
    assert not (tmp_path / "pids").exists(), "it was run"


def test_an_estimate_that_lacks_numbers_says_which(tmp_path: Path) -> None:
    answer = plan_in(make(tmp_path, jax=""), "print()\n", tmp_path)
    assert answer.status == 2 and answer.out == ""
    lines = answer.err.splitlines()
    assert lines[0].startswith("not compiled: jax and libtpu") and "give --params" in lines[1]
