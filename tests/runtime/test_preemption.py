"""SIGTERM to a training in a process of its own: what is saved in the time that a machine leaves, and what in less.

A spot machine of Google Cloud is gone 30 s after its notice (https://cloud.google.com/compute/docs/instances/preemptible).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
import tpulint_runtime
from tpulint_runtime import Checkpoints, CheckpointWarning

pytestmark = [pytest.mark.xla, pytest.mark.slow]  # where torch is, torch_xla is

NOTICE = 30.0
"""Seconds from the signal to the end of the machine."""
STEP = 0.6
"""Seconds of a step."""
FILE = 0.5
"""Seconds more that each file of a checkpoint takes; there are three."""

TRAINING = f"""
import sys; sys.modules["torch_xla"] = None
import time, torch
from tpulint_runtime import Checkpoints
from tpulint_runtime.checkpoint.storage import LocalStorage

own = LocalStorage.write

def write(self, name, write):
    def slowly(file):
        write(file)
        print("writing", name, flush=True)
        time.sleep({FILE})
    own(self, name, slowly)

LocalStorage.write = write
model = torch.nn.Linear(3000, 1000)
with Checkpoints("run", every=2) as checkpoints:
    step = checkpoints.resume(model=model)
    while True:
        print("step", step, flush=True)
        time.sleep({STEP} / 2)
        with torch.no_grad():
            model.bias.fill_(step)
        time.sleep({STEP} / 2)
        if checkpoints.is_due(step):
            checkpoints.save(step)
        step += 1
"""


class Training:
    """A training in a process, and what it tells."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def wait_for(self, line: str) -> None:
        assert self.process.stdout is not None
        for told in self.process.stdout:
            if told.startswith(line):
                return
        raise AssertionError(f"it ended without saying {line!r}")

    def tell(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Its exit status and what it wrote to the stream of errors."""
        errors = self.process.communicate(timeout=2 * NOTICE)[1]
        return self.process.returncode, errors


@contextmanager
def training(folder: Path, script: str = TRAINING) -> Iterator[Training]:
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tpulint_runtime.__file__))}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=folder,
        start_new_session=True,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Training(process)
    finally:
        process.kill()
        process.communicate()


def saved(folder: Path) -> int:
    """The step of the last whole checkpoint, as it is written in the weights as well."""
    model = torch.nn.Linear(3000, 1000)
    step = Checkpoints(folder / "run").load(model=model)
    assert model.bias.unique().tolist() == [float(step)]
    return step


def test_the_step_under_way_and_two_checkpoints_fit_into_the_notice(tmp_path: Path) -> None:
    """The signal comes when a step has just begun, and the checkpoint of another is being written."""
    with training(tmp_path) as run:
        run.wait_for("step 2")
        began = time.monotonic()
        run.tell()
        status, errors = run.end()
        took = time.monotonic() - began
    assert status == 128 + signal.SIGTERM, errors
    assert "SIGTERM: step 2 is saved" in errors and "Traceback" not in errors
    assert STEP < took < NOTICE
    assert saved(tmp_path) == 2


def test_more_signals_while_it_saves_change_nothing(tmp_path: Path) -> None:
    with training(tmp_path) as run:
        run.wait_for("step 2")
        run.tell()
        for file in ("shared.pt", "process-00000.pt", "process-00000.json"):
            run.wait_for(f"writing run-0001-step-000000002/{file}")
            run.tell()
        status, errors = run.end()
    # After the last file the process ends at once, and may be met by the signal at its end.
    assert status in (128 + signal.SIGTERM, -signal.SIGTERM), errors
    assert "SIGTERM: step 2 is saved" in errors
    assert saved(tmp_path) == 2


@pytest.mark.parametrize("file", ["shared.pt", "process-00000.json"])
def test_a_notice_that_is_too_short_costs_the_steps_since_the_checkpoint_before(file: str, tmp_path: Path) -> None:
    with training(tmp_path) as run:
        run.wait_for("step 2")
        run.tell()
        run.wait_for(f"writing run-0001-step-000000002/{file}")
        run.tell(signal.SIGKILL)
        assert run.end()[0] == -signal.SIGKILL
    with pytest.warns(CheckpointWarning, match=r"step-000000002: .*had not finished writing; taken instead: step 1"):
        assert saved(tmp_path) == 1
    with training(tmp_path) as run:
        run.wait_for("step 2")  # it goes on by itself


LOADED = """
import sys; sys.modules["torch_xla"] = None
import time, torch
from torch.utils.data import DataLoader
from tpulint_runtime import Callback, Checkpoints, EpochBatchSampler, Evaluation, Loop, tally

class Told(Callback):
    def on_step_end(self):
        print("step", flush=True)
        time.sleep(0.2)

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
loop = Loop(model, optimizer, lambda model, x: model(x).square().mean(), callbacks=[Told()])
loader = DataLoader(torch.randn(4000, 4), batch_sampler=EpochBatchSampler(4000, 8), num_workers=2)

def tallies_of(model, x):
    print("evaluated", flush=True)
    time.sleep(0.05)
    return {"loss": tally(model(x).square())}

evaluation = Evaluation(DataLoader(torch.randn(400, 4), batch_size=4, num_workers=1), tallies_of, every=3)
with Checkpoints("run", every=None) as checkpoints:
    loop.train(loader, epochs=1, evaluation=evaluation, checkpoints=checkpoints)
"""


def test_workers_of_a_loader_outlive_a_signal_to_all_of_the_group(tmp_path: Path) -> None:
    """So do managers of services and of jobs end a training: without its workers, or those of the evaluation under
    way, it could not go on to save."""
    with training(tmp_path, LOADED) as run:
        run.wait_for("step")
        run.wait_for("evaluated")
        os.killpg(run.process.pid, signal.SIGTERM)
        status, errors = run.end()
    assert status == 128 + signal.SIGTERM, errors
    assert "is saved" in errors and "Traceback" not in errors
    assert Checkpoints(tmp_path / "run").load(model=torch.nn.Linear(4, 1)) >= 1
