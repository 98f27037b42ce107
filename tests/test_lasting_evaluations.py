"""Models with batch normalisations that an evaluation in the turns of the training loop leaves in evaluation mode."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

PROGRAM = """\
import torch
from torch import nn
import torch.nn.functional as F
IMPORT

device = torch.device("cuda")

def check_accuracy(loader, net):
    net.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (net(x.to(device)).argmax(1) == y.to(device)).sum()
    BEHIND
    print(right.item())

def fit(model, loader, optimizer, epochs):
    model.train()
    for epoch in range(epochs):
        FIRST
        for step, (x, y) in enumerate(loader):
            INNER
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()MARK
            optimizer.step()
            if step % 100 == 0:
                check_accuracy(loader, model)

model = NETWORK.to(device)
fit(model, [], torch.optim.Adam(model.parameters()), 9)
"""
NORMED = "nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))"


def program(mark: str = "", **parts: str) -> str:
    """The program with some of its lines given."""
    text = PROGRAM.replace("MARK", mark)
    for name, default in (
        ("IMPORT", ""),
        ("BEHIND", "pass"),
        ("FIRST", "pass"),
        ("INNER", "pass"),
        ("NETWORK", NORMED),
    ):
        text = text.replace(name, parts.get(name, default))
    return text


def test_an_evaluation_that_nothing_undoes(tmp_path: Path) -> None:
    """Be it only until the next epoch begins."""
    inline = program("  # TPU323").replace("check_accuracy(loader, model)", "model.eval(); print(model(x.to(device)))")
    agree(
        tmp_path,
        "TPU323",
        main=program("  # TPU323"),
        other=program("  # TPU323", FIRST="model.train()"),
        inline=inline,
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"BEHIND": "net.train()"},
        {"BEHIND": "net.training = True"},
        {"INNER": "model = build()"},
        {"INNER": "set_to_training(model)"},
        {"NETWORK": "nn.Linear(4, 8)"},
    ],
)
def test_evaluations_that_something_undoes_or_that_change_nothing(tmp_path: Path, parts: dict[str, str]) -> None:
    agree(tmp_path, "TPU323", main=program(**parts))


def test_evaluations_of_the_last_turn_and_of_copies(tmp_path: Path) -> None:
    last = program().replace("if step % 100 == 0:", "if step == len(loader) - 1:")
    left = program().replace("check_accuracy(loader, model)", "check_accuracy(loader, model)\n                return")
    copied = program().replace("    net.eval()", "    net = copy.deepcopy(net)\n    net.eval()")
    other = program().replace("check_accuracy(loader, model)", "check_accuracy(loader, average)")
    agree(tmp_path, "TPU323", last=last, left=left, copied=copied, other=other)


def test_methods_and_an_evaluation_of_another_file(tmp_path: Path) -> None:
    trainer = """\
    import torch
    from torch import nn
    import torch.nn.functional as F

    class Trainer:
        def __init__(self, loader):
            self.model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).cuda()
            self.optimizer = torch.optim.Adam(self.model.parameters())
            self.loader = loader

        def one_epoch(self):
            for x, y in self.loader:
                loss = F.cross_entropy(self.model(x.cuda()), y.cuda())
                self.optimizer.zero_grad()
                loss.backward()  # TPU323
                self.optimizer.step()

        def run(self):
            for epoch in range(9):
                self.one_epoch()
                self.validate()

        def validate(self):
            self.model.eval()
            with torch.no_grad():
                for x, y in self.loader:
                    print(self.model(x.cuda()).argmax(1))
    """
    score = """\
    import torch

    def score(net, loader):
        net.eval()
        with torch.no_grad():
            for x, y in loader:
                print(net(x.cuda()).argmax(1))
    """
    main = program("  # TPU323", IMPORT="from score import score").replace(
        "check_accuracy(loader, model)", "score(model, loader=loader)"
    )
    agree(tmp_path, "TPU323", main=main, score=score, trainer=trainer)


FROZEN = """\
import torch
from torch import nn
from networks import Embedder, Filter

embedder = Embedder(nn.BatchNorm1d).cuda()
embedder.eval()
model = Filter().cuda()
optimizer = torch.optim.Adam(model.parameters())
for x, y in []:
    model.train()
    loss = nn.functional.mse_loss(model(embedder(x.cuda())), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NETWORKS = """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))

class Embedder(nn.Module):
    def __init__(self, option):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
        self.last = LAST

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.last(x).view(len(x), -1)

class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))

    def forward(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize(
    ("last", "is_told"),
    [
        ("nn.Linear(4, 4)", False),
        ("Block()", False),
        ("nn.BatchNorm1d(4)", True),
        ("Filter()", True),
        ("option(4)", True),
        ("option", True),
        ("torch.hub.load('networks', 'some')", True),
    ],
)
def test_a_frozen_network_of_another_file_that_has_none(tmp_path: Path, last: str, is_told: bool) -> None:
    """What the network is made of is in sight."""
    main = FROZEN.replace("loss.backward()", "loss.backward()  # TPU323") if is_told else FROZEN
    agree(tmp_path, "TPU323", main=main, networks=NETWORKS.replace("LAST", last))


def test_a_network_that_a_package_hands_on(tmp_path: Path) -> None:
    """The files of a package are as near as the package is; those behind further imports are too far to say."""
    for name, text in {
        "nets/__init__": "from .model import Net\n",
        "nets/model": "from .parts import *\n\nclass Net(Base):\n    pass\n",
        "nets/parts": f"from torch import nn\n\nclass Base(nn.Module):\n    body = {NORMED}\n",
        "far/model": "from far.first import Base\n\nclass Net(Base):\n    pass\n",
        "far/first": "from far.second import Base\n",
        "far/second": f"from torch import nn\n\nclass Base(nn.Module):\n    body = {NORMED}\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    near = program("  # TPU323", IMPORT="from nets import Net", NETWORK="Net()")
    far = program(IMPORT="from far.model import Net", NETWORK="Net()")
    agree(tmp_path, "TPU323", near=near, beyond=far)
