"""Dictionaries and lists that are shown as a whole: what is in them is fetched for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree
from test_host_sync_rules import port

TEXT = """
import logging

import torch
import wandb
from tqdm import tqdm

model = torch.nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in (bar := tqdm(torch.utils.data.DataLoader(data, batch_size=8, drop_last=True))):
    loss = model(x.cuda()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logs = {"loss": loss, "epoch": 1}
    SHOWN
"""


@pytest.mark.parametrize(
    "shown",
    [
        "print(logs)",
        "print(f'{logs}')",
        "print('{loss:.3f}'.format(**logs))",
        "print('%s' % logs)",
        "logging.info(logs)",
        "wandb.log(logs)",
        "bar.set_postfix(**logs)",
    ],
)
def test_dictionary_is_shown_with_what_is_in_it(tmp_path: Path, shown: str) -> None:
    agree(tmp_path, train=TEXT.replace("SHOWN", f"{shown}  # TPU102"))


@pytest.mark.parametrize(
    "made",
    [
        "logs = dict(loss=loss)",
        "logs = [loss]",
        "logs = {}\n    logs['loss'] = loss",
        "logs['loss'] = loss.detach()",
    ],
)
def test_containers_that_are_filled_otherwise(tmp_path: Path, made: str) -> None:
    agree(tmp_path, train=TEXT.replace("SHOWN", f"{made}\n    wandb.log(logs)  # TPU102"))


@pytest.mark.parametrize(
    "made",
    [
        "logs['loss'] = loss.item()  # TPU101",
        "logs = {name: float(value) for name, value in logs.items()}  # TPU101",
        "for name in logs:\n        logs[name] = numbers[name]",
        "logs.update(loss=3)",
        "make_numbers(logs)",
        "logs = {'loss': 3}",
    ],
)
def test_containers_that_hold_numbers(tmp_path: Path, made: str) -> None:
    agree(tmp_path, train=TEXT.replace("SHOWN", f"{made}\n    wandb.log(logs)"))


def test_boundary_stands_in_front_of_what_is_shown() -> None:
    text = port(TEXT.replace("SHOWN", "wandb.log(logs)"), select=("TPU102", "TPU301")).text
    assert text.index("torch_xla.sync()") < text.index("wandb.log(logs)")
