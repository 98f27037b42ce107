"""Numbers of GPUs under other names: variables and parameters that hold what is called one."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

TRAIN = """\
import torch


def train(model, loader, cfg):
    device = {number}
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = (model(x.cuda(device)) - measured(y, device)).square().mean()
        loss.backward()
        optimizer.step()


def measured(y, place):
    return y.to(place)
"""
NOISE = """\
import torch
from random import random


def noise(n, device):
    return torch.randn(n, 4).cuda(device)


def noises(n, device):
    return [noise(n, device)]


class Trainer:
    def __init__(self, net, rank):
        self.net, self.rank = net.cuda(rank), rank

    def show(self, device):
        {show}
"""


def ported(folder: Path, text: str) -> str:
    """The file after all fixes; a second run changes nothing."""
    (folder / "train.py").write_text(text)
    tpulint("check", "--fix", "--unsafe-fixes", "train.py", cwd=folder)
    text = (folder / "train.py").read_text()
    tpulint("check", "--fix", "--unsafe-fixes", "train.py", cwd=folder)
    assert text == (folder / "train.py").read_text()
    return text


@pytest.mark.parametrize(
    ("number", "is_number"),
    [("cfg.GPU_ID", True), ("cfg.gpu", True), ("cfg.local_rank", True), ("cfg.device", False), ("cfg.place", False)],
)
def test_a_variable_that_holds_the_number_of_a_configuration(tmp_path: Path, number: str, is_number: bool) -> None:
    """What nobody calls the number of a GPU may be a device, which others choose."""
    text = ported(tmp_path, TRAIN.format(number=number))
    assert ("model.to(torch_xla.device())" in text) is is_number
    assert ("model(x.to(torch_xla.device()))" in text) is is_number
    assert ("y, torch_xla.device())" in text or "y.to(torch_xla.device())" in text) is is_number


@pytest.mark.parametrize(
    ("show", "is_number"),
    [
        ("return self.net(noise(8, self.rank))", True),
        ("return self.net(noises(8, 0)[0])", True),
        ("draw = noises if random() < 0.9 else noise\n        return draw(8, self.rank)", True),
        ("return self.net(noise(8, device))", False),
    ],
)
def test_a_parameter_that_some_calls_give_a_number(tmp_path: Path, show: str, is_number: bool) -> None:
    """A device by its name, unless a call that is seen, or a variable that holds the function, may give a number."""
    text = ported(tmp_path, NOISE.format(show=show))
    assert ("torch.randn(n, 4).to(torch_xla.device())" in text) is is_number
    assert ("torch.randn(n, 4).to(device)" in text) is not is_number


CHOSEN = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
n_gpu = torch.cuda.device_count()
{chosen}
print(device)
"""


@pytest.mark.parametrize(
    ("chosen", "rest"),
    [
        (
            "use_cuda = 0 <= args.gpu < n_gpu and torch.cuda.is_available()\n"
            'device = torch.device(f"cuda:{args.gpu}" if use_cuda else "cpu")',
            "use_cuda = 0 <= args.gpu\n",
        ),
        ('use_cuda = args.gpu < n_gpu\ndevice = torch.device("cuda" if use_cuda else "cpu")', "use_cuda = True\n"),
        ('device = torch.device("cuda:0" if args.gpu < torch.cuda.device_count() else "cpu")', 'device("xla")'),
        ('device = torch.device("cuda:0" if n_gpu > args.gpu else "cpu")', 'device("xla")'),
        ('device = ["cuda" if gpu < n_gpu else "cpu" for gpu in range(8)]', None),
        ('device = torch.device("cuda")\nuse_cuda = 0 <= args.gpu < n_gpu\nprint(use_cuda)', None),
    ],
)
def test_a_number_that_must_be_below_the_number_of_gpus(tmp_path: Path, chosen: str, rest: str | None) -> None:
    """A wish for the host, `--gpu -1`, stays; who is not asked for a device may go on counting."""
    (tmp_path / "train.py").write_text(CHOSEN.replace("{chosen}", chosen))
    told = tpulint("check", "--select", "TPU605", "train.py", cwd=tmp_path).out
    assert ("below it" in told) is (rest is not None)
    text = ported(tmp_path, CHOSEN.replace("{chosen}", chosen))
    assert "cuda:" not in text
    assert ("< n_gpu" in text or "device_count() else" in text or "> args.gpu" in text) is (rest is None)
    assert rest is None or rest in text


OR_THE_HOST = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
workers = args.gpu if args.gpu >= 0 else 4
{chosen}
print(torch.ones(3).to(device))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('device = args.gpu if args.gpu >= 0 else "cpu"', 'device = torch_xla.device() if args.gpu >= 0 else "cpu"'),
        ('device = "cpu" if args.gpu < 0 else args.gpu', 'device = "cpu" if args.gpu < 0 else torch_xla.device()'),
        (
            'device = torch.device("cpu") if args.gpu == -1 else args.gpu',
            'device = torch.device("cpu") if args.gpu == -1 else torch_xla.device()',
        ),
        (
            'device = torch.device(args.gpu if args.gpu >= 0 else "cpu")',
            'device = torch.device(torch_xla.device() if args.gpu >= 0 else "cpu")',
        ),
        (
            'device, name = "cpu", args.gpu if args.gpu else "cpu"',
            'device, name = "cpu", args.gpu if args.gpu else "cpu"',
        ),
        ('device = args.gpu if args.gpu else other(args)', 'device = args.gpu if args.gpu else other(args)'),
    ],
    ids=["number first", "host first", "object", "argument", "another variable", "unknown"],
)  # fmt: skip
def test_a_number_or_the_host(tmp_path: Path, before: str, after: str) -> None:
    text = ported(tmp_path, OR_THE_HOST.replace("{chosen}", before))
    assert f"{after}\n" in text and "workers = args.gpu if args.gpu >= 0 else 4\n" in text
