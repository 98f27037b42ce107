"""The epochs that a sampler is told, which a fix puts into a loader that shuffled."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

SETTINGS, CATALOGUE = Settings(fix=True, unsafe_fixes=True, select=("TPU609",)), load()
CODE = """\
import torch
import torch_xla
from torch.utils.data import DataLoader
from samples import samples, epochs

def train(loader, model, optimizer, epoch):
    for x, y in loader:
        loss = (model(x.to("xla")) - y.to("xla")).sum()
        loss.backward()
        optimizer.step()
        torch_xla.sync()

def run(index):
    model = torch.nn.Linear(8, 4).to(torch_xla.device())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(samples, batch_size=8, shuffle=True)
    {loop}:
        train(loader, model, optimizer, {epoch})

if __name__ == "__main__":
    torch_xla.launch(run)
"""
TOLD = "        loader.sampler.set_epoch({epoch})\n        train("


def fixed(code: str) -> str:
    return lint(SourceFile.from_text(code, "train.py"), SETTINGS, CATALOGUE).text


@pytest.mark.parametrize("loop", ["for epoch in range(10)", "for epoch in range(1, 11)"])
def test_epochs_around_a_call_that_trains(loop: str) -> None:
    text = fixed(CODE.format(loop=loop, epoch="epoch"))
    assert "sampler=DistributedSampler(samples" in text and TOLD.format(epoch="epoch") in text


@pytest.mark.parametrize("loop", ["while True", "for epoch in epochs"])
def test_epochs_without_a_number(loop: str) -> None:
    code = CODE.format(loop=loop, epoch="epoch if loader else 0")
    assert fixed(code) == code


def test_one_pass_over_the_samples() -> None:
    text = fixed(CODE.format(loop="if index >= 0", epoch="0"))
    assert "sampler=DistributedSampler(samples" in text and "set_epoch" not in text
