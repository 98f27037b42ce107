"""Numbers of GPUs that functions hand on for a device, which another call gives them."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CODE = """\
import torch
import torch_xla


def collate(rows, device):
    return torch.stack([torch.tensor(row, device=device) for row in rows])


def make(device, rows):
    def join(batch):
        return {joined}

    return join(rows)


def work(gpu, rows):
    print(gpu)
    return make({given}, rows)


def show(rows):
    print(make(torch.device("cpu"), rows))


work(0, [[1, 2]])
"""


@pytest.mark.parametrize(
    ("joined", "given", "is_told"),
    [
        ("collate(batch, device)", "gpu", True),
        ("collate(batch, device=device)", "gpu", True),
        ('collate(batch, device) if device is not None else collate(batch, "cpu")', "gpu", True),
        ("collate(batch, device) if device > 0 else batch", "gpu", False),  # it is asked for as a number
        ("open(batch, device)", "gpu", False),
        ("collate(batch, device)", "torch_xla.device()", False),
    ],
)
def test_numbers_that_functions_hand_on(joined: str, given: str, is_told: bool) -> None:
    text = CODE.format(joined=joined, given=given)
    settings = Settings(select=("TPU001",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text, "train.py"), settings, load())
    assert result.text == (text.replace("make(gpu, rows)", "make(torch_xla.device(), rows)") if is_told else text)


DEFAULT = """\
import torch
import torch_xla


def work(gpu, rows):
    train(rows, device=gpu)


def train(rows, device=None):
    {asks}:
        device = torch_xla.device()
    return torch.tensor(rows).to(device)


torch_xla.launch(work, args=([1, 2],))
"""


@pytest.mark.parametrize(("asks", "is_told"), [("if device is None", True), ("if device < 0", False)])
def test_a_number_where_none_becomes_the_device(asks: str, is_told: bool) -> None:
    text = DEFAULT.format(asks=asks)
    settings = Settings(select=("TPU001",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text, "train.py"), settings, load())
    assert result.text == (text.replace("device=gpu", "device=torch_xla.device()") if is_told else text)


BRANCHES = """\
import torch
import torch.distributed as dist

rank = dist.get_rank()
if debug:
    device = {other}
else:
    device = rank % torch.cuda.device_count()
    {use}
net = make(device=device)
"""


@pytest.mark.parametrize(
    ("other", "use", "is_told"),
    [
        ('"cuda"', "pass", True),
        ('torch.device("cuda")', "torch.cuda.set_device(device)", True),
        ('"cpu"', "pass", True),
        ("0", "pass", False),
        ("find()", "pass", False),
        ('"cuda"', "seed = device + 1", False),  # the number is needed
    ],
)
def test_a_number_in_one_branch_and_a_device_in_the_other(other: str, use: str, is_told: bool) -> None:
    text = BRANCHES.format(other=other, use=use)
    settings = Settings(select=("TPU001",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text, "train.py"), settings, load())
    assert ("device = torch_xla.device()\n" in result.text.partition("else:")[2]) is is_told
    assert ("rank % torch" in result.text) is not is_told
