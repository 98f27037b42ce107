"""What calls of an object give its forward pass beside the input: numbers of Python, or tensors."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

TEXT = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x, epoch):
        weight = min(1.0, epoch / 10){mark}
        return weight * self.lin(x).square().mean()

net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(1, 4):
    for x in loader:
        optimizer.zero_grad()
        {call}.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("call", "is_told"),
    [
        ("net(x.cuda(), epoch)", False),
        ("net(x.cuda(), epoch=epoch)", False),
        ("net(x.cuda(), epoch + 1)", False),
        ("net(x.cuda(), net.lin.weight.norm())", True),
        ("(net(x.cuda(), epoch) + net(x.cuda(), x.cuda().mean()))", True),
        ("other(x.cuda(), epoch)", True),
    ],
)
def test_numbers_that_a_call_of_the_object_gives(tmp_path: Path, call: str, is_told: bool) -> None:
    agree(tmp_path, "TPU139", train=TEXT.format(call=call, mark="  # TPU139" if is_told else ""))


LENGTHS = """\
import numpy as np
import torch
from torch import nn

def mask_of(memory, lengths):
    mask = torch.zeros(memory.size(0), memory.size(1), device=memory.device)
    for row, length in enumerate(lengths):
        mask[row][:length] = 1{mark}
    return mask

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 1)

    def forward(self, x, lengths=None):
        return self.lin(x).squeeze(-1) * mask_of(x, lengths)

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, lengths in loader:
    optimizer.zero_grad()
    net(x.cuda(), lengths={given}).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "is_told"), [("lengths.numpy()", False), ("np.asarray(lengths)", False), ("lengths.cuda()", True)]
)
def test_arrays_of_the_host_that_a_call_of_the_object_gives(tmp_path: Path, given: str, is_told: bool) -> None:
    """Nothing waits for the device where lengths are an array of the host."""
    agree(tmp_path, "TPU101", train=LENGTHS.format(given=given, mark="  # TPU101" if is_told else ""))
