"""Numbers that every turn draws and hands to a forward pass, or keeps on the object whose methods cut by them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import agree

NET = """
    import random
    import torch
    import torch.nn as nn
    import torch.nn.functional as F

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(8, 12))
            self.width = 8
        def draw(self):
            self.width = random.choice([2, 4, 8])
        def forward(self, x, width):
            kept = F.linear(x, self.weight[:self.width]){kept}
            return kept.mean() + F.linear(x, self.weight[:width]).mean(){given}

    device = torch.device("cuda")
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(9):
        {epoch}
        for x, y in torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True):
            {turn}
            optimizer.zero_grad()
            model(x.to(device), width).backward()
            optimizer.step()
    """


@pytest.mark.parametrize(
    ("epoch", "turn", "told"),
    [
        ("pass", "width = random.randint(1, 8)", "given"),
        ("width = random.randint(1, 8)", "pass", ""),
        ("width = 8", "model.width = random.randint(1, 8)", "kept"),
        ("width = 8", "other.width = random.randint(1, 8)", ""),
        ("width = 8", "model.draw()", "kept"),
        ("width = 8; model.width = random.randint(1, 8)", "pass", ""),
    ],
)
def test_widths_of_a_model(tmp_path: Path, epoch: str, turn: str, told: str) -> None:
    marks = {name: "  # TPU201" * (told == name) for name in ("kept", "given")}
    agree(tmp_path, "TPU201", main=NET.format(epoch=epoch, turn=turn, **marks))


def test_layers_up_to_a_drawn_depth(tmp_path: Path) -> None:
    program = """
    import random
    import torch
    import torch.nn as nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(6)])
        def forward(self, x, depth):
            for layer in self.layers[:depth]:{mark}
                x = layer(x)
            return x.mean()

    device = torch.device("cuda")
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True):
        optimizer.zero_grad()
        model(x.to(device), {depth}).backward()
        optimizer.step()
    """
    drawn = program.format(mark="  # TPU217", depth="random.randint(1, 6)")
    agree(tmp_path, "TPU217", drawn=drawn, same=program.format(mark="", depth="4"))


def test_several_numbers_of_one_draw(tmp_path: Path) -> None:
    program = """
    import numpy as np
    import torch

    device = torch.device("cuda")
    model = torch.nn.Conv2d(3, 4, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    above, before = np.random.randint(0, 4, 2)
    for x, y in torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True):
        x = x.to(device)
        top, left = np.random.randint(0, 4, 2)
        part = x[..., top:top + 12, left:left + 12]  # TPU201
        same = x[..., above:above + 12, before:before + 12]
        optimizer.zero_grad()
        model(part + same).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU201", main=program)


def test_a_share_that_is_made_of_itself(tmp_path: Path) -> None:
    """A file that asked for it was said to be too deep, and nothing in it was told."""
    net = "class Net(torch.nn.Module):\n    def forward(self, x, share):\n        return x[: int(share)]\n"
    (tmp_path / "net.py").write_text(f"import torch\n\n\n{net}")
    program = """
        import random
        import torch
        from net import Net

        model = Net().to("cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        class Runner:
            def __init__(self, start, least, less):
                self.share, self.least, self.less = start, least, less

            def run(self, loader):
                for x in loader:
                    loss = model(x.to("cuda"), self.share).sum() * random.random()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    self.share = self.share - self.less if self.share - self.less > self.least else self.least
        """
    (tmp_path / "train.py").write_text(dedent(program))
    found = tpulint("check", ".", "--output-format", "concise", cwd=tmp_path)
    assert "too deep" not in found.out
    assert "TPU301" in found.out
