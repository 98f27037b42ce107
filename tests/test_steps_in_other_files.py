"""A step in a file that imports nothing of torch, and the loop of another file that calls it."""

from __future__ import annotations

import pytest
from command import tpulint
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


def test_a_step_that_its_loop_ends_is_left_as_it_is(tmp_path) -> None:
    """Files are mended in the order of calls: by then it must be known that the loop ends the step."""
    (tmp_path / "a_step.py").write_text(STEPS.format(mark=""))
    (tmp_path / "main.py").write_text(
        "import torch\nimport torch_xla\nfrom a_step import train_step\n\n"
        "model = torch.nn.Linear(4, 4).to('xla')\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(9):\n    train_step(model, optimizer, torch.ones(2, 4).to('xla'))\n    torch_xla.sync()\n"
    )
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU301", ".", cwd=tmp_path)
    assert (tmp_path / "a_step.py").read_text() == STEPS.format(mark="")
