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
