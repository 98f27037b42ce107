"""Trained models that go to the host and back where a class or function of another file makes their steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import agree

TRAINING = """\
import torch
from inner import step_on


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def epoch(self, data):
        for x in data:
            self._step(x)

    def _step(self, x):
        self.optimizer.zero_grad()
        self.model(x.cuda()).sum().backward()
        self.optimizer.step()

    def validate(self, data):
        return sum(self.model(x.cuda()).sum() for x in data)


class Solver:
    def __init__(self, net, rate=0.1):
        self.net = net
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=rate)

    def epoch(self, data):
        for x in data:
            self.optimizer.zero_grad()
            self.net(x.cuda()).sum().backward()
            self.optimizer.step()


def train_epoch(model, optimizer, data):
    for x in data:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()


def train_by_steps(model, optimizers, data):
    for x in data:
        step_on(model, optimizers[0], x)


def show(model, optimizer, data):
    print(model, optimizer, data)
"""
INNER = """\
def step_on(model, optimizer, x):
    optimizer.zero_grad()
    model(x.cuda()).sum().backward()
    optimizer.step()
"""
PROGRAM = """\
import torch
from torch import nn
from training import Solver, Trainer, show, train_by_steps, train_epoch


def main(data):
    model, other = nn.Linear(4, 1).cuda(), nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    of_other = torch.optim.SGD(other.parameters(), lr=0.1)
    trainer, solver = Trainer(model, optimizer), Solver(model)
    of_another = Solver(other)
    for epoch in range(3):
        {head}
        torch.save(model.cpu().state_dict(), "model.pt"){mark}
        model.cuda()
    {behind}
"""


@pytest.mark.parametrize(
    ("head", "behind", "is_told"),
    [
        ("trainer.epoch(data)", "pass", True),
        ("train_epoch(model, optimizer, data)", "pass", True),
        ("train_epoch(model, optimizer=optimizer, data=data)", "pass", True),
        ("train_by_steps(model, [optimizer], data)", "pass", True),
        ("solver.epoch(data)", "pass", True),
        ("print(epoch)", "trainer.epoch(data)", True),
        ("print(epoch)", "print(epoch)", False),
        ("trainer.validate(data)", "pass", False),
        ("show(model, optimizer, data)", "pass", False),
        ("train_epoch(other, of_other, data)", "pass", False),
        ("of_another.epoch(data)", "pass", False),
        ("trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1)); trainer.epoch(data)", "pass", False),
        ("solver = Solver(model); solver.epoch(data)", "pass", False),
    ],
)
def test_steps_of_another_file(tmp_path: Path, head: str, behind: str, is_told: bool) -> None:
    mark = "  # TPU314" if is_told else ""
    program = PROGRAM.format(head=head, behind=behind, mark=mark)
    agree(tmp_path, "TPU314", main=program, training=TRAINING, inner=INNER)


@pytest.mark.parametrize(("trains", "is_told"), [("trainer.epoch(data)", True), ("trainer.validate(data)", False)])
def test_moves_of_two_functions_around_steps_of_another_file(tmp_path: Path, trains: str, is_told: bool) -> None:
    program = """\
    import torch
    from torch import nn
    from training import Trainer

    def evaluate(model, data):
        model.cpu(){mark}
        print(model(data[0]))

    def main(data):
        model = nn.Linear(4, 1).cuda()
        trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
        for epoch in range(3):
            model.cuda()
            {trains}
            evaluate(model, data)
    """
    program = program.replace("{trains}", trains).replace("{mark}", "  # TPU314" if is_told else "")
    agree(tmp_path, "TPU314", main=program, training=TRAINING, inner=INNER)


def test_a_script_whose_trainer_builds_the_optimizer(tmp_path: Path) -> None:
    """Nothing stands in a function, and the only optimizer is in the other file."""
    program = """\
    import torch
    from torch import nn
    from training import Solver

    model = nn.Linear(4, 1).cuda()
    solver = Solver(rate=0.2, net=model)
    for epoch in range(3):
        solver.epoch([torch.ones(2, 4)])
        torch.save(model.cpu().state_dict(), "model.pt")  # TPU314
        model.cuda()
    """
    agree(tmp_path, "TPU314", main=program, training=TRAINING, inner=INNER)
    tpulint("--select=TPU314", "--fix", ".", cwd=tmp_path)
    ported = (tmp_path / "main.py").read_text()
    assert 'xm.save(model.state_dict(), "model.pt")' in ported
    assert ported.count("model.cuda()") == 0 and ".cuda()\nsolver" in ported
