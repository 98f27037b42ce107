"""Tuples and lists of the batch's tensors that a forward pass is given as one, and unpacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 2)

    def forward(self, inputs):
        words, masks = inputs
        print(masks.sum().item())MARK
        return self.linear(words)
"""

TRAINER = """\
def unpack(batch, cuda):
    if cuda:
        inputs = [b.cuda() for b in batch[:2]]
    else:
        inputs = [b for b in batch[:2]]
    return inputs, batch[2]


class Trainer:
    def __init__(self):
        self.model = Net().cuda()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def update(self, batch):
        inputs, y = unpack(batch, True)
        loss = nn.functional.cross_entropy(self.model(inputs), y.cuda())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


trainer = Trainer()
for batch in loader:
    trainer.update(batch)
"""

LOOP = """\
model = Net().cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:
    words, masks, y = GIVEN
    loss = nn.functional.cross_entropy(model((words, masks)), y.cuda())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("given", "mark"),
    [("[b.cuda() for b in batch]", "  # TPU101"), ("batch[0].cuda(), batch[1].cpu(), batch[2]", "")],
)
def test_a_tuple_is_unpacked(tmp_path: Path, given: str, mark: str) -> None:
    agree(tmp_path, "TPU101", main=NET.replace("MARK", mark) + LOOP.replace("GIVEN", given))


@pytest.mark.parametrize("moved", [True, False])
def test_a_list_that_a_function_makes_of_a_batch(tmp_path: Path, moved: bool) -> None:
    trainer = TRAINER if moved else TRAINER.replace("b.cuda()", "b.numpy()")
    net = NET.replace("MARK", "  # TPU101" if moved else "")
    agree(tmp_path, "TPU101", net=net, main="import torch\nfrom torch import nn\nfrom net import Net\n" + trainer)


OWN_LOOP = """\
model = Net().cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    x, y = x.cuda(), y.cuda()
    loss = criterion(*model(x, GIVEN), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(("given", "is_number"), [("x.shape[0]", True), ("x.max()", False)])
def test_sizes_beside_tensors(tmp_path: Path, given: str, is_number: bool) -> None:
    """What lies beside a tensor in a tuple, as it goes into a forward pass and comes out of it, is a tensor or not."""
    mark = "" if is_number else "  # TPU103"
    program = f"""\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 2)

    def forward(self, *inputs):
        x, top = inputs
        if top > 3:{mark}
            x = x + 1
        return self.linear(x), [x.shape[0], 2], x.max()


def criterion(out, sizes, most, y):
    if sizes[0] > 2:
        out = out * 2
    if most > 2:  # TPU103
        out = out * 2
    return nn.functional.cross_entropy(out, y)


"""
    agree(tmp_path, "TPU103", main=program + OWN_LOOP.replace("GIVEN", given))


def test_the_first_of_several_that_is_there(tmp_path: Path) -> None:
    """Of what `first(drop, self.drop)` gives, other calls that give it tensors say nothing."""
    program = """\
import torch
from torch import nn


def first(*args):
    for arg in args:
        if arg is not None:
            return arg


class Net(nn.Module):
    def __init__(self, drop=0.0):
        super().__init__()
        self.linear, self.drop = nn.Linear(8, 2), drop

    def forward(self, x, mask, drop=None):
        drop = first(drop, self.drop)
        mask = first(x > 0, mask)
        if drop > 0.0:
            x = x + 1
        if mask.sum() > 0:  # TPU103
            x = x + 1
        return self.linear(x), x, mask


def criterion(out, x, mask, y):
    return nn.functional.cross_entropy(out, y)


"""
    agree(tmp_path, "TPU103", main=program + OWN_LOOP.replace("GIVEN", "y"))


POSITIONS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 2)

    def forward(self, x, places=None):
        return self.taken_from(self.linear(x), places)

    def taken_from(self, x, places):
        found = []
        for i in range(len(places)):
            for start, end in places[i]:
                if start + 1 < x.size(1):MARK
                    found.append(x[i, start])
        return torch.stack(found)
"""

NAMED = """\
import torch
from torch.utils.data import DataLoader
from net import Net


def collate(samples):
    return torch.stack([one["x"] for one in samples]), [one["places"] for one in samples]


def train(samples):
    model = Net().cuda()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(samples, batch_size=8, collate_fn=collate, drop_last=True):
        inputs = {"x": batch[0].cuda(), "places": GIVEN}
        loss = model(**inputs).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("given", "mark"), [("batch[1]", ""), ("torch.tensor(batch[1]).cuda()", "  # TPU103")], ids=("lists", "tensor")
)
def test_inputs_of_a_dictionary_are_each_their_own(tmp_path: Path, given: str, mark: str) -> None:
    """``model(**inputs)`` of a dictionary in which lists of numbers stand beside tensors."""
    agree(tmp_path, "TPU103", net=POSITIONS.replace("MARK", mark), main=NAMED.replace("GIVEN", given))
