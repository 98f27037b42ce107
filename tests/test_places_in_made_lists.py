"""Elements asked for by their place in a list that is made on the spot: ``list(model.parameters())[0]``."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

TRAIN = """
import torch

model = torch.nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
    optimizer.zero_grad()
    model(x.cuda()).mean().backward()
    optimizer.step()
    LINE
"""


@pytest.mark.parametrize(
    "line",
    [
        "print(list(model.parameters())[0].norm().item())  # TPU101",
        "weight = list(model.parameters())[-1]\n    print(weight.norm().item())  # TPU101",
        "print(list(dict(model.named_parameters()))[0].item())",  # a name
        "print(list(model.named_parameters())[0].item())",
        "print(list(range(8))[0].item())",
        "print(list(model.state_dict().keys())[0].item())",
        "print(list(make_parts())[0].item())",
    ],
)
def test_parameters_by_their_place(tmp_path: Path, line: str) -> None:
    agree(tmp_path, "TPU101", train=TRAIN.replace("LINE", line))
