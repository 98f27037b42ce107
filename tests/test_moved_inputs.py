"""What moves beside an optimizer and is no model, and optimizers that are only named."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

STEPS = """\
def learn(model, optimizer, batch):
    loss = model(batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss

def epoch(net, optimizer, loader):
    net.train()
    for batch in loader:
        learn(net, optimizer, batch)
"""


@pytest.mark.parametrize(
    "body",
    [
        "x, y = x.to(device), y.to(device)\n    return learn(model, optimizer, x)",
        "x = x.to(device)\n    return learn(model, optimizer, x)",
        "x = x.to(device)\n    return learn(model, optimizer, batch=x)",
        "return learn(model, optimizer, x.to(device))",
        "moved = x.to(device)\n    return unknown(model, optimizer, moved)",
        "x = x.to(device)\n    return learn(model, optimizer, x[0])",
        "x = x.to(device)\n    return x.shape, learn(model, optimizer, x)",
        "model = model.to(device)  # TPU303\n    return learn(model, optimizer, x)",
        "model = model.to(device)  # TPU303\n    return epoch(model, optimizer, x)",
        "epoch(model.to(device), optimizer, x)  # TPU303",
        "model.to(device)  # TPU303\n    return unknown(model, optimizer, x)",
        "model = model.to(device)  # TPU303\n    return model, optimizer",
    ],
)
def test_what_is_handed_on_beside_an_optimizer(tmp_path: Path, body: str) -> None:
    text = f"def auto(model, optimizer, x, y, device):\n    {body}\n"
    agree(
        tmp_path, "TPU303", train="from steps import epoch, learn\nfrom library import unknown\n\n" + text, steps=STEPS
    )


@pytest.mark.parametrize(
    ("default", "built", "is_told"),
    [
        ('="adam"', "self.optimizer = self.create(optimizer)", False),
        ("", "self.optimizer = self.create(optimizer)", False),
        ("", "self.opt = getattr(torch.optim, optimizer)(self.net.parameters())", False),
        ("", 'self.opt = torch.optim.Adam(self.net.parameters()) if optimizer == "adam" else None', False),
        ("", "self.opt = optimizer(self.net.parameters())", False),
        ("", "self.optimizer = optimizer", True),
        ("=None", "self.optimizer = optimizer", True),
    ],
)
def test_an_optimizer_that_is_named(tmp_path: Path, default: str, built: str, is_told: bool) -> None:
    train = f"""\
    import torch

    class Trainer:
        def __init__(self, net, optimizer{default}):
            self.net = net.to("cuda"){"  # TPU303" * is_told}
            {built}

        def create(self, optimizer):
            return {{"sgd": torch.optim.SGD, "adam": torch.optim.Adam}}[optimizer](self.net.parameters())
    """
    agree(tmp_path, "TPU303", train=train)


@pytest.mark.parametrize("built", ["self.parameters()", "[corr]"])
@pytest.mark.parametrize(
    ("drawn", "is_told"),
    [
        ("for data in self.loader:\n            x, y = data[0], data[1]\n            x, y = x.cuda(), y.cuda()", False),
        ("for data in self.loader:\n            x, y = data\n            x = x.cuda()", False),
        ("for data in self.loader:\n            x = data.cuda()", False),
        ("for x in self.layers:\n            x.cuda()", True),
        ("for x in self.children():\n            x.cuda()", True),
    ],
)
def test_what_a_module_draws_of_its_attributes(tmp_path: Path, built: str, drawn: str, is_told: bool) -> None:
    train = f"""\
import torch
from torch import nn
from torch.optim import Adam
from base import Base

class Net(Base, nn.Module):
    def fit(self):
        corr = torch.tensor([0.0, 1.0], device=self.device, requires_grad=True)
        self.opt = Adam({built})
        {drawn}{"  # TPU303" * (is_told and built != "[corr]")}
            self.opt.zero_grad()
            (self(x) * corr).mean().backward()
            self.opt.step()
"""
    agree(tmp_path, "TPU303", train=train)
