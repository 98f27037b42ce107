"""Loaders whose only batch holds all samples: no batch is smaller than the others.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

from marked_files import agree

PROGRAM = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("xla")
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def main(x, y, other):
    samples = TensorDataset(x, y)
    count = x.size(0)
    train(DataLoader(samples, batch_size=x.shape[0], shuffle=True))
    train(DataLoader(x, batch_size=x.shape[0]))
    train(DataLoader(x, batch_size=count))
    train(DataLoader(x, batch_size=x.size()[0]))
    train(DataLoader(samples, batch_size=len(samples)))
    train(DataLoader(x, batch_size=other.shape[0]))  # TPU501
    train(DataLoader(x, batch_size=x.shape[1]))  # TPU501
    train(DataLoader(samples, batch_size=x.size(1)))  # TPU501


def train(loader):
    for batch in loader:
        loss = model(batch.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_batches_of_all_samples(tmp_path: Path) -> None:
    agree(tmp_path, "TPU501,TPU516", main=PROGRAM)
