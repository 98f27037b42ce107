"""Trainings that are killed, on the CPU and on XLA, end as one that was not: bit by bit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tpulint_runtime

pytestmark = [pytest.mark.xla, pytest.mark.slow]

SCRIPT = Path(__file__).parent / "interrupted_training.py"

SIGTERM_IGNORED_YET = -15


def interrupted(device: str, kind: str, count: int, folder: Path) -> dict[str, Any]:
    """What came of a training on ``device`` that was interrupted ``count`` times."""
    path = os.path.dirname(os.path.dirname(tpulint_runtime.__file__))
    environment = {**os.environ, "PYTHONPATH": path, "PJRT_DEVICE": "CPU"}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), device, kind, str(count), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert result["wrong"] == [], f"a run differs from the uninterrupted one\n{done.stderr}"
    assert result["lost"] == [], f"a checkpoint that was written is gone\n{done.stderr}"
    assert result["finished"] >= 1
    return result


def run(code: str, folder: Path) -> str:
    """What a script prints that runs in ``folder``, on the CPU."""
    path = os.path.dirname(os.path.dirname(tpulint_runtime.__file__))
    without_xla = "import sys; sys.modules['torch_xla'] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", without_xla + code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_example_of_the_documentation_runs_and_resumes(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "runtime.md").read_text(encoding="utf-8")
    example = page.partition("## Checkpoints")[2].partition("```python\n")[2].partition("```")[0]
    assert run(example, tmp_path) == "100 steps\n"
    assert sorted(path.name for path in (tmp_path / "runs" / "a").iterdir()) == [
        f"run-0001-step-{step:09d}" for step in (59, 79, 99)
    ]
    shutil.rmtree(tmp_path / "runs" / "a" / "run-0001-step-000000099")
    last = example + "\nprint([round(float(p.double().sum()), 12) for p in model.parameters()], scheduler.last_epoch)"
    resumed = run(last.replace("step += 1", "step += 1; print(step, end=' ')"), tmp_path)
    assert resumed.startswith("81 82 ") and "100 100 steps" in resumed
    (tmp_path / "other").mkdir()
    assert run(last, tmp_path / "other").splitlines()[-1] == resumed.splitlines()[-1]


TOGETHER = """
import os, signal, sys, torch
import torch.distributed as dist
from tpulint_runtime import Checkpoints, Preempted

torch.set_num_threads(1)


def train(rank, kill_at):
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/meeting-{kill_at}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    weight = torch.nn.Parameter(torch.zeros(3))
    model = torch.nn.ParameterList([weight])
    drawn = []
    with Checkpoints("run", every=7, notice_every=3) as checkpoints:
        for step in range(checkpoints.resume(model=model), 20):
            noise = torch.randn(3)
            dist.all_reduce(noise)
            with torch.no_grad():
                weight += noise
            if rank == 1 and step == kill_at:
                os.kill(os.getpid(), signal.SIGTERM)
            if checkpoints.is_due(step):
                checkpoints.save(step)
    torch.save(weight.detach(), f"weight-{rank}.pt")


def both(kill_at):
    processes = []
    for rank in range(2):
        process = os.fork()
        if not process:
            status = 1
            try:
                train(rank, kill_at)
                status = 0
            except Preempted as end:
                os.write(1, f"preempted {rank} {end.step}\\n".encode())  # at once: both may write
                status = end.code
            finally:
                os._exit(status)
        processes.append(process)
    return [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]


print(both(9), flush=True)
print(both(-1), flush=True)
os.rename("run", "interrupted")
resumed = [torch.load(f"weight-{rank}.pt") for rank in range(2)]
print(both(-2), flush=True)
for rank in range(2):
    assert torch.equal(resumed[rank], torch.load(f"weight-{rank}.pt"))
"""


def test_two_processes_end_at_the_same_step_and_go_on_together(tmp_path: Path) -> None:
    # Gloo writes to the same stream, and its lines may come in pieces.
    lines = [line for line in run(TOGETHER, tmp_path).splitlines() if line.startswith(("preempted ", "["))]
    lines = [line for line in lines if "Gloo" not in line]
    # One is told in step 9. Both ask in steps 2, 5, 8, 11, and whenever they save: in step 6 and 13.
    assert sorted(lines[:2]) == ["preempted 0 11", "preempted 1 11"]
    assert lines[2:] == ["[143, 143]", "[0, 0]", "[0, 0]"]


def test_killed_at_random_moments(tmp_path: Path) -> None:
    result = interrupted("cpu", "random", 50, tmp_path)
    assert result["interrupted"] == 50 and result["statuses"] == []
    assert sum(step >= 0 for step in result["resumed"]) >= 10, "too few of them had a checkpoint to continue from"


def test_killed_before_every_operation_on_the_disk(tmp_path: Path) -> None:
    # Some ten operations write a checkpoint: these are the first five, and from the fourth on old ones are removed.
    result = interrupted("cpu", "operations", 60, tmp_path)
    assert result["interrupted"] == 60 and result["finished"] == 60


def test_told_to_end(tmp_path: Path) -> None:
    result = interrupted("cpu", "sigterm", 15, tmp_path)
    assert set(result["statuses"]) <= {143, SIGTERM_IGNORED_YET}
    assert result["statuses"].count(143) >= 5, "too few had begun to train"
    assert len([step for step in result["resumed"] if (step + 1) % 3]) >= 2, "no checkpoint out of turn"


def test_killed_on_xla(tmp_path: Path) -> None:
    result = interrupted("xla", "random", 5, tmp_path)
    assert result["interrupted"] == 5
    assert sum(step >= 0 for step in result["resumed"]) >= 2
