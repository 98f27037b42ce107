"""Lists of numbers that a function fills and never looks at."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

DICE = """\
import torch
from torch import nn

class Dice(nn.Module):
    def forward(self, x, y):
        parts = []
        loss = 0.0
        for i in range(4):
            part = (x[:, i] * y[:, i]).mean()
            parts.append(1.0 - part.item())
            loss += part
        return RESULT
"""
DICED = """\
import torch
from torch import nn
from dice import Dice

net = nn.Linear(4, 4).cuda()
dice = Dice()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, drop_last=True):
    loss = dice(net(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("result", "is_read"), [("loss / 4", False), ("loss + sum(parts)", True)])
def test_a_list_that_nobody_looks_at_is_never_read(tmp_path: Path, result: str, is_read: bool) -> None:
    (tmp_path / "dice.py").write_text(DICE.replace("RESULT", result))
    (tmp_path / "train.py").write_text(DICED)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU101,TPU105", ".", cwd=tmp_path)
    after = (tmp_path / "dice.py").read_text()
    assert "parts.append(1.0 - part.detach())" in after
    assert (".tolist()" in after) is is_read
