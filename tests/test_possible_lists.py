"""What a model gives may be a list of tensors: an index that changes takes one of them, and no place of a tensor."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

PROGRAM = """\
import random
import torch
from torch import nn
from networks import load, to_device

device = torch.device("cuda")
net = MADE.to(device)
head = nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in batches:
    BODY
    optimizer.zero_grad()
    loss.mean().backward()
    optimizer.step()
"""
NETWORKS = """\
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return x * 2

def load(name):
    return torch.hub.load("somebody/nets", name)

def to_device(batch, device):
    if isinstance(batch, list):
        return [to_device(part, device) for part in batch]
    return batch.to(device)
"""


@pytest.mark.parametrize(
    ("made", "body", "is_told"),
    [
        ("load(name)", "hidden, _ = net(batch.to(device)); loss = head(hidden[random.randint(0, 3)])", False),
        ("load(name)", "hidden = net(batch.to(device)); loss = head(hidden[random.randint(0, 3)])", False),
        ("load(name)", "x = to_device(batch, device); loss = net(x[random.randint(0, 3)])", False),
        ("nn.Linear(4, 4)", "hidden = net(batch.to(device)); loss = head(hidden[random.randint(0, 3)])", True),
        ("load(name)", "x = net(batch.to(device)); loss = head(x[random.randint(0, 3)]) + x.mean()", True),
        ("nn.Linear(4, 4)", "x = net(batch.to(device)); x = x * 2; loss = head(x[random.randint(0, 3)])", True),
        (
            "nn.Linear(4, 4)",
            "x = net(batch.to(device)); if not isinstance(x, list): x = [x]; loss = head(x[random.randint(0, 3)])",
            False,
        ),
        ("load(name)", "x = net(batch.to(device)); loss = head(x[:, random.randint(0, 3)])", True),
    ],
)
def test_what_a_module_gives_that_nobody_knows(tmp_path: Path, made: str, body: str, is_told: bool) -> None:
    body = body.replace("; ", "\n    ")
    lines = [line + ("  # TPU201" if is_told and "randint" in line else "") for line in body.splitlines()]
    program = PROGRAM.replace("MADE", made).replace("BODY", "\n".join(lines))
    agree(tmp_path, "TPU201", main=program, networks=NETWORKS)
