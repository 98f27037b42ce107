"""A step in a file that imports nothing of torch, and the loop of another file that calls it."""

from __future__ import annotations

import pytest
from marked_files import agree

STEPS = """\
def train_step(model, optimizer, data):{mark}
    optimizer.zero_grad()
    loss = model(data).mean()
    loss.backward()
    optimizer.step()
"""
LOOP = """\
import torch
import torch_xla
from torch.utils.data import DataLoader
from steps import train_step


def main(dataset, model):
    device = torch_xla.device()
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(dataset, batch_size=16, shuffle=True)  # TPU501
    for batch in loader:
        train_step(model, optimizer, batch.to(device))
        {end}
"""


@pytest.mark.parametrize(("end", "is_ended"), [("pass", False), ("torch_xla.sync()", True)])
def test_the_loop_ends_the_step(tmp_path, end: str, is_ended: bool) -> None:
    mark = "" if is_ended else "  # TPU301"
    agree(tmp_path, "TPU301,TPU501", steps=STEPS.format(mark=mark), train=LOOP.format(end=end))


def test_each_loop_has_to_end_it(tmp_path) -> None:
    ended, open_one = LOOP.format(end="torch_xla.sync()"), LOOP.format(end="pass")
    agree(tmp_path, "TPU301,TPU501", steps=STEPS.format(mark="  # TPU301"), train=ended, other=open_one)
