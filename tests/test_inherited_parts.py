"""Modules and objects that a class has from a base class, or a base class from those that are derived from it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import SETUP, agree

PARTS = """\
import torch
from torch import nn

class Criterion(nn.Module):
    def forward(self, out, y):
        if y.sum() == 0:{criterion}
            return out.mean()
        return (out - y).abs().mean()

class Meter:
    def update(self, out, y):
        self.hits = out.argmax(1).eq(y).sum().item(){meter}

class Base:
    def __init__(self):
        self.model = nn.Linear(4, 2).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.criterion = Criterion()
        self.meter = Meter()
"""
TRAINER = """\
class Trainer(Base):
    def __init__(self):
        super().__init__()
        {own}

    def train(self, loader):
        for x, y in loader:
            x, y = x.to("cuda"), y.to("cuda")
            out = self.model(x)
            self.optimizer.zero_grad()
            self.criterion(out, y).backward()
            self.optimizer.step()
            self.meter.update(out, y)
"""


@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize(
    ("own", "is_criterion_told", "is_meter_told"),
    [
        ("pass", True, True),
        ("self.meter = AverageMeter()", True, False),
        ("self.criterion = nn.L1Loss()", False, True),
    ],
)
def test_what_a_base_class_keeps(
    tmp_path: Path, is_apart: bool, own: str, is_criterion_told: bool, is_meter_told: bool
) -> None:
    """What a derived class sets itself is what it has."""
    criterion, meter = "  # TPU103" if is_criterion_told else "", "  # TPU101" if is_meter_told else ""
    parts, trainer = PARTS.format(criterion=criterion, meter=meter), TRAINER.format(own=own)
    if is_apart:
        agree(tmp_path, base=parts, main=f"from torch import nn\nfrom base import Base\n{trainer}")
    elif is_criterion_told:  # within a file, the forward pass of a class that it makes is one that may run
        agree(tmp_path, main=parts + trainer)


@pytest.mark.parametrize(
    ("result", "is_told"), [("self.head(self.body(x))", True), ("self.head(torch.ones(4)) + self.body(x)", False)]
)
def test_a_forward_pass_that_runs_what_derived_classes_set(tmp_path: Path, result: str, is_told: bool) -> None:
    program = f"""\
    import torch
    from torch import nn

    class Encoder(nn.Module):
        def forward(self, x):
            return {result}

    class Head(nn.Module):
        def forward(self, x):
            scale = x.mean().item(){"  # TPU101" if is_told else ""}
            return x * scale

    class Net(Encoder):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 4)
            self.head = Head()

    model = Net().to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x.to("cuda")).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101", main=dedent(program))


ASKING = """\
import torch
from torch import nn

class WithLoss(nn.Module):
    def __init__(self, model, loss):
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, x, y):
        return self.loss(self.model(x), y)

class Trainer:
    def __init__(self, model):
        {kept} = self.make_loss()
        self.model = WithLoss(model, self.loss).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def make_loss(self):
        {body}

    def train(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            self.model(x.to("cuda"), y.to("cuda")).backward()
            self.optimizer.step()
"""
GIVING = """\
from torch import nn
from base import Trainer

class Loss(nn.Module):
    def forward(self, out, y):
        if y.sum() == 0:{mark}
            return out.mean()
        return (out - y).abs().mean()

class OwnTrainer(Trainer):
    def {name}(self):
        loss = Loss()
        return {result}

OwnTrainer(nn.Linear(4, 4)).train(loader)
"""


@pytest.mark.parametrize(
    ("kept", "body", "name", "result", "is_told"),
    [
        ("self.loss", "raise NotImplementedError", "make_loss", "loss", True),
        ("self.names, self.loss", "raise NotImplementedError", "make_loss", "['all'], loss", True),
        ("self.loss, self.other", "raise NotImplementedError", "make_loss", "nn.L1Loss(), loss", False),
        ("self.loss", "return nn.L1Loss()", "make_loss", "loss", False),
        ("self.loss", "raise NotImplementedError", "make_other", "loss", False),
    ],
)
def test_what_a_derived_class_of_another_file_makes(
    tmp_path: Path, kept: str, body: str, name: str, result: str, is_told: bool
) -> None:
    giving = GIVING.format(name=name, result=result, mark="  # TPU103" if is_told else "")
    agree(tmp_path, "TPU103", base=ASKING.format(kept=kept, body=body), main=giving)


@pytest.mark.parametrize("second", ['batch["y"].to(device)', 'other(batch["y"])'])
def test_a_method_that_several_derived_classes_have(tmp_path: Path, second: str) -> None:
    """Nothing is known where nobody knows what one of them gives."""
    mark = "  # TPU103" if "to(" in second else ""
    program = f"""
    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, batch):
            x, y = self.prepare(batch)
            if y[0] > 3:{mark}
                x = -x
            return self.layer(x).mean()

    class First(Base):
        def prepare(self, batch):
            return batch["x"].to(device), batch["y"].to(device)

    class Second(Base):
        def prepare(self, batch):
            return batch["x"].to(device), {second}

    net = (First if args.first else Second)().to(device)
    for batch in loader:
        optimizer.zero_grad()
        net(batch).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU103", main=SETUP + program)
