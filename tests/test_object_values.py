"""What objects keep, where code outside of their class reads it: attributes, and fields of records."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree
from test_host_sync_rules import check

RUNNER = """\
from torch import nn


class Base:
    def __init__(self, model):
        self.loss, self.model, self.opt = None, model.cuda(), torch.optim.SGD(model.parameters(), lr=0.1)

    def backward(self):
        self.opt.zero_grad()
        self.loss.backward()
        self.opt.step()


class Runner(Base):
    def step(self, x, y):
        self.loss = nn.functional.mse_loss(self.model(x), y)
        self.losses = {"all": self.loss}
        self.seen = len(x)
        self.shown = self.loss.item()  # TPU101
        self.backward()
"""


def test_attributes_of_objects_of_another_file(tmp_path: Path) -> None:
    program = """\
    import torch
    from runner import Runner

    runner = Runner(torch.nn.Linear(8, 2))
    for x, y in loader:
        runner.step(x.cuda(), y.cuda())
        print("%.3f" % runner.loss)  # TPU102
        print(runner.losses["all"].item())  # TPU101
        print(float(runner.shown), float(runner.seen), float(runner.unknown))
    """
    agree(tmp_path, "TPU101,TPU102", runner="import torch\n" + RUNNER, main=program)


START = """\
import torch
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from torch import nn

Pair = namedtuple("Pair", ["loss", "count"])

@dataclass
class Record:
    loss: torch.Tensor
    count: int = 0

@dataclass
class Other:
    loss: torch.Tensor

    def __post_init__(self):
        self.loss = self.loss.item()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 2)

    def forward(self, x):
        self.hidden = self.linear(x)
        return self.hidden

model = Net().cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
state = SimpleNamespace()

def run(x):
    return Pair(model(x).mean(), len(x))

for x in loader:
    loss = model(x.cuda()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        ("print(model.hidden.mean().item())", True),
        ("out = Pair(loss, 3)\n    print(out.loss.item())", True),
        ("out = Record(loss=loss)\n    print(float(out.loss))", True),
        ("print(run(x.cuda()).loss.item())", True),
        ("out = run(x.cuda())\n    print(out.loss.item())", True),
        ("state.loss = loss.detach()\n    print(state.loss.item())", True),
        ("out = Pair(loss, 3)\n    print(float(out.count))", False),
        ("out = Record(*values)\n    print(float(out.loss))", False),
        ("out = Other(loss)\n    print(float(out.loss))", False),
        ("out = run(x.cuda())\n    print(float(out.count))", False),
        ("state.loss = loss.detach()\n    state.loss = 3.0\n    print(float(state.loss))", False),
        ("if wide:\n        state.loss = loss.detach()\n    print(float(state.loss))", False),
        ("state.loss = loss.detach()\n    print(float(other.loss))", False),
    ],
)
def test_what_is_kept_under_a_name(turn: str, told: bool) -> None:
    assert bool(check(START + "    " + turn + "\n", ("TPU101",))) is told


BUFFER = """\
class Buffer:
    def __init__(self):
        self.rows = torch.zeros(8).cuda()

    def __iadd__(self, row):
        self.rows = self.rows + row
        return self

    def draw(self):
        return self.rows.softmax(0).cpu().numpy()  # TPU101
"""


@pytest.mark.parametrize("apart", [True, False])
def test_what_is_added_to_an_object_leaves_its_class(tmp_path: Path, apart: bool) -> None:
    program = """\
model = torch.nn.Linear(8, 2).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
buffer = Buffer()
for x in loader:
    buffer += x.cuda()
    places = buffer.draw()
    loss = model(x.cuda()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
    if apart:
        start = "import torch\nfrom buffer import Buffer\n"
        agree(tmp_path, "TPU101", buffer="import torch\n" + BUFFER, main=start + program)
    else:
        agree(tmp_path, "TPU101", main="import torch\n" + BUFFER + program)


@pytest.mark.parametrize("made", ["Output(loss, len(y), 'x')", "loss"])
def test_places_of_a_record(tmp_path: Path, made: str) -> None:
    """What has places, of which one is read as a tensor is, may be a record: its other fields are no tensors."""
    mark = "" if "Output" in made else "  # TPU102"
    program = f"""\
import torch
from collections import namedtuple

Output = namedtuple("Output", ["loss", "count", "name"])
net = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def run(x, y):
    loss = torch.nn.functional.cross_entropy(net(x), y, reduction="none")
    return {made}


for x, y in loader:
    out = run(x.cuda(), y.cuda())
    optimizer.zero_grad()
    out[0].backward()
    optimizer.step()
    print(out[0].item(), {"out.name, out.count" if "Output" in made else "out"}){mark}
"""
    agree(tmp_path, "TPU102", main=program)
