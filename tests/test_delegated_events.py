"""Backward passes and updates that an object of another file's class runs for the loop that trains."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

HALF = """\
import torch
import torch_xla


class Half:
    def __init__(self, model):
        self.parameters = list(model.parameters())
        self.scale = 2.0**16
        self.own = torch.optim.SGD(self.parameters, lr=0.1)

    def backward(self, loss):
        (loss * self.scale).backward()

    def optimize(self, optimizer):
        if self.scale > 1:
            return self._scaled(optimizer)
        optimizer.step()
        return True

    def _scaled(self, given):
        for p in self.parameters:
            p.grad.mul_(1 / self.scale)
        given.step()
        return True

    def step_own(self):
        self.own.step()

    def backward_and_step(self, loss, optimizer):
        loss = loss / 2
        self.backward(loss)
        self.optimize(optimizer)

    def optimize_and_sync(self, optimizer):
        optimizer.step()
        torch_xla.sync()

    def train(self, model, batch):
        model(batch).mean().backward()
        self.own.step()

    def next_epoch(self, counter):
        counter.step()
"""
LOOP = """\
import torch
import torch_xla
from half import Half

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
half = Half(model)
optimizer = torch.optim.AdamW(model.parameters())
plan = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0)
for x in loader:
    loss = model(x.to(device)).mean()
    BACKWARD
    UPDATE
    print(loss)
"""
CLASS = """\
import torch
import torch_xla
from half import Half


class Training:
    def __init__(self, model, data):
        self.model = model.to(torch_xla.device())
        self.data = data
        self.half = Half(model=self.model)
        self.opt = torch.optim.AdamW(self.model.parameters())
        self.step = 0

    def run(self):
        while self.step < 100:
            self.run_step(next(self.data))
            print(self.step)
            self.step += 1

    def run_step(self, batch):
        self.forward_backward(batch)
        self.half.optimize(self.opt)
        print("updated")

    def forward_backward(self, batch):
        for part in batch.chunk(2):
            loss = self.model(part.to(torch_xla.device())).mean()
            self.half.backward(loss)
"""


def fixed(folder: Path, text: str) -> str:
    """A file beside the class, with all boundaries it lacks."""
    (folder / "half.py").write_text(HALF)
    (folder / "train.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU301", "train.py", cwd=folder)
    return (folder / "train.py").read_text()


def loop(backward: str, update: str) -> str:
    return LOOP.replace("BACKWARD", backward).replace("    UPDATE\n", f"    {update}\n" if update else "")


@pytest.mark.parametrize(
    ("backward", "update"),
    [
        ("half.backward(loss)", "half.optimize(optimizer)"),
        ("half.backward(loss=loss)", "half.optimize(optimizer=optimizer)"),
        ("half.backward(loss)", "optimizer.step()"),
        ("loss.backward()", "half.optimize(optimizer)"),
        ("loss.backward()", "half.step_own()"),
        ("half.backward_and_step(loss, optimizer)", ""),
    ],
)
def test_boundary_stands_behind_the_update(tmp_path: Path, backward: str, update: str) -> None:
    before = loop(backward, update)
    last = f"    {update or backward}\n"
    assert fixed(tmp_path, before) == before.replace(last, last + "    torch_xla.sync()\n")


def test_boundary_of_a_loop_whose_methods_delegate(tmp_path: Path) -> None:
    update = "        self.half.optimize(self.opt)\n"
    assert fixed(tmp_path, CLASS) == CLASS.replace(update, update + "        torch_xla.sync()\n")


@pytest.mark.parametrize(
    ("backward", "update"),
    [
        ("half.backward(loss)", "half.optimize_and_sync(optimizer)"),
        ("half.backward(loss)", "half.next_epoch(plan)"),
        ("half.backward(loss)", "half.next_epoch(unknown)"),
        ("half.train(model, x)", "optimizer.step()"),
        ("unknown.backward(loss)", "unknown.optimize(optimizer)"),
    ],
)
def test_loop_that_has_a_boundary_or_no_step_of_its_own_stays(tmp_path: Path, backward: str, update: str) -> None:
    before = loop(backward, update)
    assert fixed(tmp_path, before) == before


def test_gradients_are_averaged_by_no_object_that_has_an_optimizer(tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text(HALF.replace("step_own", "step"))
    train = (
        "import torch\nimport torch_xla\nfrom half import Half\n\n\ndef train(index):\n"
        "    device = torch_xla.device()\n    model = torch.nn.Linear(4, 4).to(device)\n    half = Half(model)\n"
        "    for _ in range(9):\n        loss = model(torch.ones(4, 4, device=device)).mean()\n"
        "        loss.backward()\n        half.step()\n        torch_xla.sync()\n\n\n"
        'if __name__ == "__main__":\n    torch_xla.launch(train)\n'
    )
    (tmp_path / "train.py").write_text(train)
    options = ("--fix", "--unsafe-fixes", "--select", "unreduced-update-in-launch", "train.py")
    answer = tpulint(*options, cwd=tmp_path)
    assert answer.status == 1
    assert (tmp_path / "train.py").read_text() == train
