"""With coverage, the observer tells which lines ran, in which steps, and where training and evaluation happened."""

from __future__ import annotations

from pathlib import Path

import pytest
from verifying import XLA_PYTHON

from tpulint.verification import environment
from tpulint.verification.process import Task, run
from tpulint.verification.records import ProcessRecords

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("warm_python_for_scripts")]

SCRIPT = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(3, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.rand(10, 3), batch_size=4)


def loss_of(x):
    return model(x).mean()


for epoch in range(2):
    for x in loader:
        loss = loss_of(x.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        print(loss.item())
    with torch.no_grad():
        for x in loader:
            loss_of(x.to(device))
            torch_xla.sync()
single_batch = torch.utils.data.DataLoader(torch.rand(3, 3), batch_size=4)
"""
BUILT_ANEW = """\
import torch
import torch_xla

model = torch.nn.Linear(3, 1).to(torch_xla.device())
other = torch.optim.SGD(torch.nn.Linear(3, 1).to(torch_xla.device()).parameters(), lr=0.1)
for epoch in range(3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 / (epoch + 1))
    for _ in range(2):
        model(torch.rand(4, 3).to(torch_xla.device())).mean().backward()
        optimizer.step()
        other.step()
        torch_xla.sync()
"""


def recorded(folder: Path, text: str) -> ProcessRecords:
    """What is seen of a script."""
    script = folder / "train.py"
    script.write_text(text)
    records = folder / "records"
    records.mkdir()
    python = environment.find(XLA_PYTHON).path
    task = Task(str(script), (), python, environment.observer_script(), str(records), coverage=True)
    return run(task).recording.training


def test_an_optimizer_that_is_built_anew_goes_on_with_the_steps(tmp_path: Path) -> None:
    assert recorded(tmp_path, BUILT_ANEW).steps == 6


def test_lines_chains_and_happenings(tmp_path: Path) -> None:
    process = recorded(tmp_path, SCRIPT)
    assert process.steps == 6
    path = str((tmp_path / "train.py").resolve())

    def steps_of(row: int) -> dict[tuple[tuple[str, int], ...], dict[int, int]]:
        """By the calls that led to the row."""
        found: dict[tuple[tuple[str, int], ...], dict[int, int]] = {}
        for one in process.ran:
            if one.row == row:
                steps = found.setdefault(process.chains[one.chain], {})
                for step, times in one.steps.items():
                    steps[step] = steps.get(step, 0) + times
        return found

    assert steps_of(20) == {(): dict.fromkeys(range(1, 7), 1)}
    assert steps_of(11) == {((path, 16),): dict.fromkeys(range(6), 1), ((path, 23),): {3: 3, 6: 3}}
    happened = {(one.kind, tuple(row for _, row in one.places)) for one in process.happenings}
    assert happened == {
        ("uneven-loader", (7,)),
        ("loader", (25,)),
        ("training-forward", (11, 16)),
        ("backward", (17,)),
        ("update", (18,)),
        ("evaluating-forward", (11, 23)),
    }
    reads = {(work.line.row, process.chains[work.chain]) for work in process.works if work.reads and work.line}
    assert reads == {(20, ())}


def test_nothing_of_it_is_recorded_unless_wished_for(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    records = tmp_path / "records"
    records.mkdir()
    python = environment.find(XLA_PYTHON).path
    process = run(Task(str(script), (), python, environment.observer_script(), str(records), max_steps=2)).recording
    training = process.training
    assert (training.chains, training.ran, training.happenings) == ((), (), ())
    assert {work.chain for work in training.works} == {-1}
