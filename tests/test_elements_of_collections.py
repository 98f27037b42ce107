"""Methods of objects and modules that lists, sequences and dictionaries hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

METER = """\
class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value):
        self.total += value.item(){mark}
"""
TRAIN = """\
import torch
from collections import defaultdict
from torch import nn
{above}

model = nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
meters = {made}
for x, y in loader:
    loss = (model(x.cuda()) - y.cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {use}
"""
COLLECTIONS = {
    "entry": ('{"loss": Meter()}', 'meters["loss"].update(loss)'),
    "entry of many": ('{name: Meter() for name in ("loss", "norm")}', 'meters["loss"].update(loss)'),
    "made as asked for": ("defaultdict(Meter)", 'meters["loss"].update(loss)'),
    "made by a lambda": ("defaultdict(lambda: Meter())", 'meters["loss"].update(loss)'),
    "named entries": ("dict(loss=Meter())", 'meters["loss"].update(loss)'),
    "place": ("[Meter(), None]", "meters[0].update(loss)"),
    "loop": ("[Meter()]", "for meter in meters:\n        meter.update(loss)"),
    "values": ('{"loss": Meter()}', "for meter in meters.values():\n        meter.update(loss)"),
    "items": ('{"loss": Meter()}', "for name, meter in meters.items():\n        meter.update(loss)"),
    "put in later": ('{}\nmeters["loss"] = Meter()', 'meters["loss"].update(loss)'),
}
OTHERS = {
    "another entry": ('{"loss": other, "norm": Meter()}', 'meters["loss"].update(loss)'),
    "unknown beside": ("[Meter(), other]", "for meter in meters:\n        meter.update(loss)"),
    "names": ('{"loss": Meter()}', "for meter in meters:\n        meter.update(loss)"),
    "the list itself": ("[Meter()]", "meters.update(loss)"),
}


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize(("made", "use"), COLLECTIONS.values(), ids=COLLECTIONS)
def test_objects_in_collections(tmp_path: Path, made: str, use: str, imported: bool) -> None:
    meter = METER.format(mark="  # TPU101")
    if imported:
        program = TRAIN.format(above="from meters import Meter", made=made, use=use)
        agree(tmp_path, "TPU101", train=program, meters=meter)
    else:
        agree(tmp_path, "TPU101", train=TRAIN.format(above="\n" + meter, made=made, use=use))


@pytest.mark.parametrize(("made", "use"), OTHERS.values(), ids=OTHERS)
def test_what_may_be_another_object_tells_nothing(tmp_path: Path, made: str, use: str) -> None:
    agree(tmp_path, "TPU101", train=TRAIN.format(above="\n" + METER.format(mark=""), made=made, use=use))


@pytest.mark.parametrize("given", ["[Meter()]", "meters"])
def test_objects_in_a_list_that_the_constructor_is_given(tmp_path: Path, given: str) -> None:
    program = f"""\
import torch
from torch import nn

{METER.format(mark="  # TPU101")}
class Trainer:
    def __init__(self, model, meters=()):
        self.model, self.meters = model, meters
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(self, loader):
        for x, y in loader:
            loss = (self.model(x.cuda()) - y.cuda()).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for meter in self.meters:
                meter.update(loss)

meters = [Meter(), Meter()]
Trainer(nn.Linear(3, 3).cuda(), {given}).train(loader)
"""
    agree(tmp_path, "TPU101", train=program)


@pytest.mark.parametrize(
    "use",
    [
        "print(model[0].size())",
        "for block in model:\n        print(block.size())",
        "for name, block in model.named_children():\n        print(block.size())",
        "print(sum(part.size() for part in model.modules() if isinstance(part, Block)))",
        "for block in [part for part in model.modules() if isinstance(part, Block)]:\n        print(block.size())",
    ],
)
def test_methods_of_the_parts_of_a_module(tmp_path: Path, use: str) -> None:
    program = """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def size(self):
        return self.layer.weight.norm().item()  # TPU101

    def forward(self, x):
        return self.layer(x)

model = nn.Sequential(Block(), nn.ReLU(), Block()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = (model(x.cuda()) - y.cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    USE
"""
    agree(tmp_path, "TPU101", train=program.replace("USE", use))


@pytest.mark.parametrize(
    ("made", "base"),
    [
        ('{"main": Loss()}', "nn.Module"),
        ('nn.ModuleDict({"main": Loss()})', "nn.Module"),
        ('{"main": Loss()}', "object"),
    ],
)
def test_a_call_of_an_entry(tmp_path: Path, made: str, base: str) -> None:
    method = "forward" if base == "nn.Module" else "__call__"
    program = f"""\
import torch
from torch import nn

class Loss({base}):
    def {method}(self, out, y):
        print((out - y).abs().max().item())  # TPU101
        return (out - y).pow(2).mean()

model = nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = {made}
for x, y in loader:
    loss = criterion["main"](model(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    agree(tmp_path, "TPU101", train=program)


@pytest.mark.parametrize("asked", ['"boxes" in meta', "meta"])
def test_a_dictionary_within_what_a_model_gives(tmp_path: Path, asked: str) -> None:
    """It is one where the code asks for its keys; a tensor is asked for none."""
    mark = "" if "in" in asked else "  # TPU103"
    program = f"""\
import torch
from torch import nn

class Loss(nn.Module):
    def forward(self, outputs, y):
        meta = outputs["meta"]
        if meta and {asked}:{mark}
            return outputs["pred"].mean()
        return (outputs["pred"] - y).pow(2).mean()

model = nn.Linear(3, 3).cuda()
criterion = Loss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = criterion(model(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    agree(tmp_path, "TPU103", train=program)


def test_an_element_whose_method_is_given_it(tmp_path: Path) -> None:
    """What the class of an element depends on is looked for once."""
    program = TRAIN.format(
        above="\n" + METER.format(mark="") + "\ndef update(items, value):\n    items[0].update(items)\n",
        made="[Meter()]",
        use="update(meters, loss)",
    )
    agree(tmp_path, "TPU101", train=program)
