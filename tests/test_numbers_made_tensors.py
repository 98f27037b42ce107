"""A tensor of the device, or a number that is made a tensor on the host in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

WAYS = {
    "choice": "value = out.mean() if config.mean else torch.tensor(0.0)",
    "branch": "value = torch.tensor(-1)\n    if config.mean:\n        value = out.mean()",
    "function": "value = norm(model.parameters())",
}
OTHERS = {
    "always the number": "value = torch.tensor(0.0)",
    "fetched": "value = out.mean().cpu() if config.mean else torch.tensor(0.0)",
    "a tensor of the host": "value = out.mean() if config.mean else torch.tensor(rows)",
}
PROGRAM = """\
import torch
from torch import nn

def norm(parameters):
    gradients = [p.grad for p in parameters if p.grad is not None]
    if not gradients:
        return torch.tensor(0.0)
    return torch.stack([g.norm() for g in gradients]).norm()

model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    out = model(x.cuda())
    loss = (out - y.cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {way}
    print(value.item()){mark}
"""


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_tensor_or_a_number(tmp_path: Path, way: str) -> None:
    agree(tmp_path, "TPU101", train=PROGRAM.format(way=way, mark="  # TPU101"))


@pytest.mark.parametrize("way", OTHERS.values(), ids=OTHERS)
def test_what_may_lie_on_the_host(tmp_path: Path, way: str) -> None:
    program = PROGRAM.format(way=way, mark="")
    if "cpu" in way:
        program = program.replace(way, f"{way}  # TPU101")
    agree(tmp_path, "TPU101", train=program)
