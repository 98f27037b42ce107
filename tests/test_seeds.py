"""Seeds of the host that are meant for the device as well, in whichever file the device is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import agree

TRAINING = """\
import torch
from torch import nn
from passes import Passes

net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
passes = Passes(lambda z: net(z).sum())
for x in torch.ones(9, 8, 4):
    optimizer.zero_grad()
    z = x.cuda().requires_grad_()
    (net(z).sum() + passes.difference(z).sum()).backward()
    optimizer.step()
"""
PASSES = """\
import torch

class Passes:
    def __init__(self, loss):
        self.loss = loss

    def difference(self, z):
        torch.manual_seed(3)  # TPU702
        first = torch.autograd.grad(self.loss(z), z)[0]
        torch.manual_seed(3)  # TPU702
        return first - torch.autograd.grad(self.loss(2 * z), z)[0]
"""
SECOND = "        torch.manual_seed(3)  # TPU702\n        return first - "


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        (f"{SECOND}torch.autograd.grad(", "        torch.manual_seed(3)\n        return first - torch.add("),
        # Nothing tells that the device shall draw the same again.
        (PASSES[PASSES.index("        torch.manual") :], "        torch.manual_seed(3)\n        return self.loss(z)\n"),
    ],
)
def test_seeds_in_front_of_gradients_in_a_file_that_steps_of_another_run(tmp_path: Path, old: str, new: str) -> None:
    agree(tmp_path, "TPU702", train=TRAINING, passes=PASSES.replace(old, new, 1))


def test_seeds_of_a_file_that_steps_give_what_lies_on_the_host(tmp_path: Path) -> None:
    on_host = PASSES.replace("  # TPU702", "")
    agree(tmp_path, "TPU702", train=TRAINING.replace(".cuda()", ""), passes=on_host)


RUN = """\
import random
import torch
from experiment import Experiment

random.seed(7)
torch.manual_seed(7)  # TPU702
Experiment().train()
"""
EXPERIMENT = """\
import torch
from torch import nn

class Experiment:
    def __init__(self):
        self.device = torch.device("cuda")
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).to(self.device)

    def train(self):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for x in torch.ones(9, 8, 4):
            optimizer.zero_grad()
            self.net(x.to(self.device)).sum().backward()
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".to(self.device)", ""),
        ("    def train(", "    def launch(self):\n        torch.multiprocessing.spawn(self.train)\n\n    def train("),
    ],
)
def test_seed_of_a_program_that_runs_what_other_files_do_with_a_device(tmp_path: Path, old: str, new: str) -> None:
    agree(tmp_path, "TPU702", run=RUN, experiment=EXPERIMENT)
    agree(tmp_path, "TPU702", run=RUN.replace("  # TPU702", ""), experiment=EXPERIMENT.replace(old, new))
    derived = "from base import Experiment as Base\n\nclass Experiment(Base):\n    pass\n"
    agree(tmp_path, "TPU702", run=RUN, experiment=derived, base=EXPERIMENT)


JOINING = """\
import os
import torch

def join(options):
    torch.cuda.set_device(options.rank)
    torch.distributed.init_process_group(backend="nccl", init_method="env://")
"""
JOINED = """\
import torch
from joining import join
from options import read

options = read()
SEEDS
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).cuda()
"""


@pytest.mark.parametrize(
    ("seeds", "joining", "becomes"),
    [
        (
            "torch.manual_seed(7)\njoin(options)",
            JOINING,
            "torch.manual_seed(7)\njoin(options)\ntorch_xla.manual_seed(7)",
        ),
        (
            "join(options)\ntorch.manual_seed(7)",
            JOINING,
            "join(options)\ntorch.manual_seed(7)\ntorch_xla.manual_seed(7)",
        ),
        (
            "torch.manual_seed(7)\njoin(options)",
            "def join(options):\n    options.rank = 0\n",
            "torch.manual_seed(7)\ntorch_xla.manual_seed(7)\njoin(options)",
        ),
    ],
)
def test_the_device_is_seeded_behind_the_function_of_another_file_that_joins_a_group(
    tmp_path: Path, seeds: str, joining: str, becomes: str
) -> None:
    """In front of it every process would take all chips."""
    (tmp_path / "joining.py").write_text(joining)
    (tmp_path / "main.py").write_text(JOINED.replace("SEEDS", seeds))
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU0,TPU602,TPU702", ".", cwd=tmp_path)
    assert becomes in (tmp_path / "main.py").read_text()
