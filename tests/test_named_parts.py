"""Layers of own classes that are put into a sequence under a name, and reached through a list of such sequences."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree


@pytest.mark.parametrize(
    ("given", "kept", "put", "is_told"),
    [
        ("layers", "self.layers = make(defs)", 'part.add_module("last_%d" % i, Last())', True),
        ("layers", "self.layers = make(defs)", 'last = Last()\n            part.add_module("last", last)', True),
        ("layers", "self.layers = make(defs)", "part.append(Last())", True),
        ("defs, layers", "self.defs, self.layers = make(defs)", 'part.add_module("last", Last())', True),
        ("defs, layers", "self.layers, self.defs = make(defs)", 'part.add_module("last", Last())', False),
        ("layers", "self.layers = make(defs)", 'part.add_module("last", nn.Identity())', False),
        ("layers", "self.layers = make(defs)", 'other.add_module("last", Last())', False),
    ],
)
def test_named_parts_of_listed_sequences(tmp_path: Path, given: str, kept: str, put: str, is_told: bool) -> None:
    models = f"""\
    import torch
    from torch import nn

    class Last(nn.Module):
        def forward(self, x, targets=None):
            loss = (x - targets).mean()
            if loss > 0:{"  # TPU103" * is_told}
                loss = loss * 2
            return loss

    def make(defs, other=nn.Sequential()):
        layers = nn.ModuleList()
        for i, one in enumerate(defs):
            part = nn.Sequential()
            if one == "conv":
                part.add_module("conv", nn.Conv2d(3, 3, 1))
            else:
                {put.replace(chr(10), chr(10) + "    ")}
            layers.append(part)
        return {given}

    class Net(nn.Module):
        def __init__(self, defs):
            super().__init__()
            self.kinds = defs
            {kept}

        def forward(self, x, targets=None):
            loss = 0
            for kind, layer in zip(self.kinds, self.layers):
                if kind == "conv":
                    x = layer(x)
                else:
                    loss = loss + layer[0](x, targets)
            return loss
    """
    train = """\
    import torch
    from models import Net

    def train(defs, loader):
        model = Net(defs).cuda()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            loss = model(x.cuda(), y.cuda())
            loss.backward()
            opt.step()
            opt.zero_grad()
    """
    agree(tmp_path, "TPU103", models=models, train=train)
