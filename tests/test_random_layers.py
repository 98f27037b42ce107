"""Layers that a random number leaves out: each pattern of outcomes is a graph of its own."""

from __future__ import annotations

from pathlib import Path

from marked_files import agree


def test_layers_left_out(tmp_path: Path) -> None:
    program = """
    import random
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, share):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(6)])
            self.share = share
        def forward(self, x):
            for layer in self.layers:
                drawn = random.uniform(0, 1)
                if not self.training or (drawn > self.share):  # TPU206
                    x = layer(x)
            for layer in self.layers:
                if self.training and random.random() < self.share:  # TPU206
                    continue
                x = layer(x)
            for layer in self.layers:
                drawn = torch.rand([])
                left_out = True if self.training and drawn < self.share else False
                if not left_out:  # TPU206
                    x = layer(x)
            for layer in self.layers:
                if self.training and self.share > 1:
                    continue
                x = layer(x)
            for name in ["first", "second"]:
                if random.random() < self.share:
                    continue
                print(name)
            return x.mean()

    device = torch.device("cuda")
    model = Net(0.1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True):
        optimizer.zero_grad()
        model(x.to(device)).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU206", main=program)
