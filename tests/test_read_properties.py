"""Properties: what reading one fetches, and what methods of what it returns do."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree
from test_host_sync_rules import check

NETS = """\
import torch
from torch import nn


class Edge(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha, self.linear = nn.Parameter(torch.zeros(4)), nn.Linear(8, 2)

    def forward(self, x):
        return self.linear(x)

    @property
    def best(self):
        return self.alpha.max().item()  # TPU101

    @property
    def worst(self):
        return self.alpha.min().item()

    @property
    def size(self):
        return self.linear.in_features

    def draw(self):
        self.sample = torch.multinomial(self.alpha.softmax(0), 1)[0].item()  # TPU101

    def entropy(self):
        return self.alpha.softmax(0).log().sum()


class Runner:
    def __init__(self):
        self.model = Edge().cuda()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)

    @property
    def net(self):
        return self.model
"""

TRAIN = """
class Manager:
    def __init__(self, runner):
        self.runner = runner

    @property
    def net(self):
        return self.runner.net

    def train(self, loader):
        for step, (x, y) in enumerate(loader):
            self.net.draw()
            print(self.net.entropy().item())  # TPU101
            print(self.net.best, self.net.size)
            if step % 100 == 0:
                print(self.net.worst)
            loss = nn.functional.mse_loss(self.runner.net(x.cuda()), y.cuda())
            self.runner.opt.zero_grad()
            loss.backward()
            self.runner.opt.step()


Manager(Runner()).train(loader)
"""


def test_properties_of_one_file(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101", main=NETS + TRAIN)


def test_properties_of_another_file(tmp_path: Path) -> None:
    start = "from torch import nn\nfrom nets import Runner\n"
    agree(tmp_path, "TPU101", nets=NETS, main=start + TRAIN)


@pytest.mark.parametrize(("shown", "told"), [("value", True), ("count", False)])
def test_a_property_that_the_loop_of_its_class_reads(shown: str, told: bool) -> None:
    text = f"""
    class Runner:
        def __init__(self):
            self.total, self.steps = torch.zeros(()).cuda(), 0

        @property
        def value(self):
            return self.total.item()

        @property
        def count(self):
            return float(self.steps)

        def run(self):
            for x, y in loader:
                loss = model(x.cuda()).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                self.total = self.total + loss.detach()
                print(self.{shown})
    """
    assert bool(check(text, ("TPU101",))) is told
