"""Lists of numbers that a forward pass has by default."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

CODE = """\
import torch
from torch import nn
from samples import loader

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, layers{default}):
        for layer in layers:
            x = self.fc(x)
            if layer > 1:{mark}
                x = x + 1
        return x

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x.cuda(){given}), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("default", ["=[0, 1]", "=(0, 1, 2)", "=(-1,)", "=[1, 0.5]"])
def test_numbers_are_no_tensors(tmp_path: Path, default: str) -> None:
    agree(tmp_path, "TPU103,TPU102", main=CODE.format(default=default, mark="", given=""))


def test_a_tensor_is_one(tmp_path: Path) -> None:
    agree(tmp_path, "TPU103,TPU102", main=CODE.format(default="", mark="  # TPU103", given=", y.cuda()"))
