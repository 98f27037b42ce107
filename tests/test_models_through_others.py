"""Models that come through others: methods that wrap them, builders, registries, texts that are evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, criterion=None):
        super().__init__()
        self.layer = nn.Linear(8, 2)
        self.criterion = criterion

    def forward(self, x, y=None):
        out = self.layer(x)
        print(out.sum().item()){mark}
        return out if self.criterion is None else self.criterion(out, y)

def build(criterion):
    return Net(criterion=criterion)
"""
TRAIN = """\
import torch
from torch import nn
{above}

{made}
model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = model(x.cuda(), y.cuda()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ENGINE = """\
from torch import nn
from torch.nn.parallel import DistributedDataParallel

class Engine:
    def wrap(self, model):
        {body}
        return model

    def __enter__(self):
        return self
"""
BODIES = {
    "as it is": ("pass", True),
    "wrapped": ("model = nn.DataParallel(model)", True),
    "wrapped in branches": (
        "if self.many:\n            model = DistributedDataParallel(model)\n        else:\n"
        "            model = nn.DataParallel(model)",
        True,
    ),
    "another": ("model = self.compress()", False),
}


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize(("body", "is_same"), BODIES.values(), ids=BODIES)
def test_methods_that_wrap_a_model(tmp_path: Path, body: str, is_same: bool, elsewhere: bool) -> None:
    engine = ENGINE.format(body=body)
    above = "from net import Net\n" + ("from engine import Engine" if elsewhere else engine)
    made = "engine = Engine()\nmodel = engine.wrap(Net())"
    files = {"engine": engine} if elsewhere else {}
    net = NET.format(mark="  # TPU101" if is_same else "")
    agree(tmp_path, "TPU101", net=net, train=TRAIN.format(above=above, made=made), **files)


@pytest.mark.parametrize(
    ("made", "is_known"),
    [
        ('eval("net." + args.model)()', True),
        ('eval(f"net.{args.model}")()', True),
        ('eval("net.%s" % args.model)()', True),
        ('eval("package." + args.model + ".Net")()', False),
        ("eval(args.model)()", False),
    ],
)
def test_models_that_a_text_names(tmp_path: Path, made: str, is_known: bool) -> None:
    net = NET.format(mark="  # TPU101" if is_known else "")
    agree(tmp_path, "TPU101", net=net, train=TRAIN.format(above="import net", made=f"model = {made}"))


def test_models_of_modules_of_a_package_that_a_text_names(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "__init__.py").write_text("import nets.wide\n")
    made = 'model = eval("nets." + args.model + ".Net")()'
    train = TRAIN.format(above="import nets", made=made)
    agree(tmp_path, "TPU101", **{"nets/wide": NET.format(mark="  # TPU101")}, train=train)


CRITERION = """\
import torch
from torch import nn

class Criterion(nn.Module):
    def forward(self, out, y):
        if (y > 0).sum() > 3:{mark}
            return out.mean()
        return out.sum()
"""


@pytest.mark.parametrize(
    ("made", "is_given"), [("build(Criterion())", True), ("build(criterion=Criterion())", True), ("build(None)", False)]
)
def test_modules_that_a_builder_is_given(tmp_path: Path, made: str, is_given: bool) -> None:
    above = "from criterion import Criterion\nfrom net import build"
    criterion = CRITERION.format(mark="  # TPU103" if is_given else "")
    train = TRAIN.format(above=above, made=f"model = {made}")
    agree(tmp_path, "TPU103", net=NET.format(mark=""), criterion=criterion, train=train)


def test_modules_that_a_class_gives_its_base(tmp_path: Path) -> None:
    parts = """\
    import torch
    from torch import nn

    class Head(nn.Module):
        def forward(self, x):
            return x.mean().item()  # TPU101

    class Base(nn.Module):
        def __init__(self, head):
            super().__init__()
            self.layer = nn.Linear(8, 2)
            self.head = head

        def forward(self, x):
            return self.layer(x)

    class Detector(Base):
        def __init__(self):
            head = Head()
            super().__init__(head)
    """
    trainer = """\
    import torch

    class Trainer:
        def __init__(self, net):
            self.net = net
            self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        def train_step(self, x, y):
            out = self.net(x)
            print(self.net.head(out))
            loss = (out - y).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
    """
    train = """\
    from parts import Detector
    from trainer import Trainer

    trainer = Trainer(Detector().cuda())
    for x, y in loader:
        trainer.train_step(x.cuda(), y.cuda())
    """
    agree(tmp_path, "TPU101", parts=parts, trainer=trainer, train=train)


REGISTRY = """\
class Registry:
    def __init__(self):
        self.items = {}

    def registe_with_name(self, name):
        def note(build):
            self.items[name] = build
            return build
        return note

    def get(self, name):
        return self.items[name]

MODELS = Registry()
"""
BUILDER = """
from .registry import MODELS

@MODELS.registe_with_name("net")
def make(args):
    criterion = Criterion()
    return Net(), criterion

class Criterion(nn.Module):
    def forward(self, out):
        if out.sum() > 3:  # TPU103
            return out.mean()
        return out.sum()
"""


@pytest.mark.parametrize("asked", ["MODELS.get(args.name)(args)", "build(args)"])
def test_models_and_criteria_out_of_a_registry(tmp_path: Path, asked: str) -> None:
    """The package of the registry imports what is registered, and runs before it."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("from .net import make\n")
    train = """\
import torch

def main(args, loader):
    from models.registry import MODELS
    build = MODELS.get(args.name)
    model, criterion = ASKED
    model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = criterion(model(x.cuda()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    net = NET.format(mark="  # TPU101") + BUILDER
    files = {"models/registry": REGISTRY, "models/net": net, "train": train.replace("ASKED", asked)}
    agree(tmp_path, "TPU101,TPU103", **files)
