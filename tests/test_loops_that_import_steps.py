"""Loops that run a step of an imported file, whatever the words of their own file are."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

from tpulint.library import Library

STEP = """\
import torch
from torch import nn

class PPO:
    def __init__(self):
        self.net = nn.Linear(8, 2).cuda()
        self.opt = torch.optim.Adam(self.net.parameters())

    def update(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss
"""
LOOP = """\
import torch
from {module} import {name}

agent = {name}()
for x, y in {batches}:
    loss = agent.update(x.cuda(), y.cuda())
    print(loss.item()){mark}
"""


@pytest.mark.parametrize("batches", ["batches", "train_iter", "loader", "torch.utils.data.DataLoader(data)"])
def test_names_of_batches_decide_nothing(tmp_path: Path, batches: str) -> None:
    loop = LOOP.format(module="ppo", name="PPO", batches=batches, mark="  # TPU101")
    agree(tmp_path, "TPU101", ppo=STEP, train=loop)


def test_steps_through_a_package_and_a_base(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "ppo.py").write_text(STEP)
    (tmp_path / "agents" / "__init__.py").write_text("from .ppo import PPO\n")
    loop = LOOP.format(module="agents", name="PPO", batches="batches", mark="  # TPU101")
    agree(tmp_path, "TPU101", train=loop)


@pytest.mark.parametrize(
    ("read", "code"),
    [("print(float(loss))", "TPU101"), ("total = total + float(loss)", "TPU101"), ('print(f"{loss:.3f}")', "TPU102")],
)
def test_results_that_are_made_numbers_or_shown(tmp_path: Path, read: str, code: str) -> None:
    loop = LOOP.format(module="ppo", name="PPO", batches="batches", mark="").replace("print(loss.item())", read)
    agree(tmp_path, code, ppo=STEP, train=f"total = 0\n{loop.rstrip()}  # {code}\n")
    silent = STEP.replace("return loss", "return x.size(0)")
    agree(tmp_path, code, ppo=silent, train=f"total = 0\n{loop}")


def test_what_trains_nothing_makes_no_training_loop(tmp_path: Path) -> None:
    silent = STEP.replace("        loss.backward()\n", "")
    agree(tmp_path, "TPU101", ppo=silent, train=LOOP.format(module="ppo", name="PPO", batches="batches", mark=""))


def test_imports_are_asked_for_steps(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text("import other\n\ndef f(loss):\n    loss.backward()\n")
    (tmp_path / "other.py").write_text("import step\n")
    (tmp_path / "far.py").write_text("import farther\n")
    (tmp_path / "farther.py").write_text("import other\n")
    library, path = Library(), str(tmp_path / "main.py")
    for text, told in (
        ("import step", True),
        ("from step import f", True),
        ("import numpy", False),
        ("import other", True),  # through another
        ("import far", False),  # too deep
    ):
        assert library.imports_steps(path, text) is told, text


AGENT = """\
import torch
from torch import nn

class Base:
    def place(self, index):
        self.device = torch.device("{device}", index)
        self.model.to(self.device)

class Agent(Base):
    def __init__(self):
        self.model = nn.Linear(4, 1)

    def parameters(self):
        return self.model.parameters()

    def __call__(self, x):
        return self.model(x)
"""
ALGORITHM = """\
import torch

class Algorithm:
    def __init__(self, agent, loader):
        self.agent, self.loader = agent, loader
        self.optimizer = torch.optim.SGD(agent.parameters(), lr=0.1)

    def optimize(self):
        for batch in self.loader:
            loss = self.agent(batch).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(loss.item()){mark}
"""
RUN = """\
from {module} import Agent
from algorithm import Algorithm
from data import batches

agent = Agent()
agent.place(0)
Algorithm(agent, batches).optimize()
"""


def test_a_loop_that_is_given_what_lies_on_a_device(tmp_path: Path) -> None:
    """Neither the loop nor the program that gives it the object says a word of a device."""
    agree(
        tmp_path,
        "TPU101",
        agent=AGENT.format(device="cuda"),
        algorithm=ALGORITHM.format(mark="  # TPU101"),
        run=RUN.format(module="agent"),
    )


def test_a_loop_that_is_given_what_nobody_moves(tmp_path: Path) -> None:
    agent = AGENT.replace('        self.device = torch.device("{device}", index)\n', "").replace(
        "self.model.to(self.device)", "self.index = index"
    )
    agree(tmp_path, "TPU101", agent=agent, algorithm=ALGORITHM.format(mark=""), run=RUN.format(module="agent"))


EVALUATION = """\
import torch
from places import put

def evaluate(net, loader):
    net.eval()
    hits = 0
    for x, y in loader:
        x, y = put(x), put(y)
        hits += net(x).max(1)[1].eq(y).sum().item(){mark}
    print(hits)
"""


@pytest.mark.parametrize(("moved", "mark"), [("x.cuda()", "  # TPU104"), ("x.float()", "")])
def test_an_evaluation_whose_batches_an_import_moves(tmp_path: Path, moved: str, mark: str) -> None:
    agree(tmp_path, "TPU104", places=f"def put(x):\n    return {moved}\n", evaluation=EVALUATION.format(mark=mark))


LEARNER = """\
import torch
from torch import nn

class Base:
    def __init__(self, loader):
        self.device = torch.device("{device}")
        self.loader = loader
        self.model = nn.Linear(4, 2).to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def optimize(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
OWN = """\
from base import Base
from torch.nn import functional as F

class Own(Base):
    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.{method}(loss)
        return loss.item(){mark}
"""


@pytest.mark.parametrize(
    ("device", "method", "mark"), [("cuda", "optimize", "  # TPU101"), ("cuda", "note", ""), ("cpu", "optimize", "")]
)
def test_steps_that_methods_of_a_base_class_finish(tmp_path: Path, device: str, method: str, mark: str) -> None:
    """Whatever the method is called, and without a word of a loop or a device."""
    agree(tmp_path, "TPU101", base=LEARNER.format(device=device), own=OWN.format(method=method, mark=mark))


EITHER = """\
import sys
import torch
from torch import nn

if sys.argv[1] == "long":
    from long import train
else:
    from {other} import train

model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(list(torch.zeros(65, 4)), batch_size=8, shuffle=True){mark}
train(model, optimizer, loader)
"""
TRAINING = """\
def train(model, optimizer, loader):
    for x in loader:
        loss = model(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("other", "mark"), [("short", "  # TPU501"), ("elsewhere", "")])
def test_a_function_that_one_of_two_imports_brings(tmp_path: Path, other: str, mark: str) -> None:
    """Where one of them is not in sight, nobody knows what it does with the loader."""
    agree(tmp_path, "TPU501", long=TRAINING, short=TRAINING, main=EITHER.format(other=other, mark=mark))
