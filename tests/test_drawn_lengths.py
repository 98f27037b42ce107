"""Batches of which each is as long as drawn numbers say, and those that are as long as they are cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

PROGRAM = """\
import random
import numpy as np
import torch
from torch import nn


def around(words, at, window=5):
    {drawn}
    start = max(at - reach, 0)
    found = {found}
    return list(found)


def batches_of(words, size):
    {cut}
    for at in range(0, len(words), size):  {partial}
        x, y = [], []
        batch = words[at : at + size]
        for i in range(len(batch)):
            targets = around(batch, i)
            {filled}
        {given}


device = torch.device("cuda")
model = nn.Embedding(50, 50).to(device)
optimizer = torch.optim.Adam(model.parameters())
words = list(range(640))
for inputs, targets in batches_of(words, 32):
    inputs, targets = torch.LongTensor(inputs).to(device), torch.LongTensor(targets).to(device)
    loss = nn.functional.cross_entropy(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TUTORIAL = {
    "drawn": "reach = np.random.randint(1, window + 1)",
    "found": "words[start:at] + words[at + 1 : at + reach + 1]",
    "cut": "count = len(words) // size\n    words = words[: count * size]",
    "partial": "",
    "filled": "y.extend(targets)  # TPU224\n            x.extend([batch[i]] * len(targets))",
    "given": "yield x, y",
}


def program(**parts: str) -> str:
    return PROGRAM.format(**{**TUTORIAL, **parts})


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"drawn": "reach = random.randint(1, window)"},
        {"found": "words[at : at + reach]"},
        {"filled": "y += targets  # TPU224\n            x += [batch[i]] * len(targets)"},
        {"given": "yield np.array(x), torch.tensor(y).long()"},
        {"cut": "pass"},  # the last batch is the least of it
        {"filled": "y.extend(targets)  # TPU224\n            x.extend(batch)"},
    ],
    ids=str,
)
def test_batches_as_long_as_drawn_numbers_say_are_told(tmp_path: Path, parts: dict[str, str]) -> None:
    agree(tmp_path, "TPU224,TPU511", main=program(**parts))


FIXED = {"filled": "y.extend(targets)\n            x.extend([batch[i]] * len(targets))"}


@pytest.mark.parametrize(
    "parts",
    [
        {"drawn": "reach = 2"},
        {"found": "words[reach : reach + 3]"},  # drawn is where it begins
        {"filled": "y.append(targets[0])\n            x.append(batch[i])"},
        {"filled": "y.extend(batch[:3])\n            x.extend([batch[i]] * 3)"},
        {"given": "yield x[:64], y[:64]"},
        {"given": "x, y = fill(x, y)\n        yield x, y"},
    ],
    ids=str,
)
def test_batches_of_one_length_are_left(tmp_path: Path, parts: dict[str, str]) -> None:
    agree(tmp_path, "TPU224,TPU511", main=program(**{**FIXED, **parts}))


@pytest.mark.parametrize(
    ("cut", "is_whole"),
    [
        ("words = words[: len(words) // size * size]", True),
        ("count = len(words) // size\n    words = words[: count * size]", True),
        ("words = words[: len(words) - len(words) % size]", True),
        ("words = words[:1000]", False),
        ("words = words[size:]", False),
        ("pass", False),
    ],
)
def test_words_cut_to_whole_batches_leave_no_smaller_one(tmp_path: Path, cut: str, is_whole: bool) -> None:
    text = program(cut=cut, filled="pass", given="yield batch, batch", partial="" if is_whole else "# TPU511")
    agree(tmp_path, "TPU224,TPU511", main=text)


def test_batches_of_another_file(tmp_path: Path) -> None:
    made, trained = program().split("device = ")
    made = made.replace("from torch import nn\n", "")
    head = "import torch\nfrom torch import nn\nfrom batches import batches_of\n\ndevice = "
    agree(tmp_path, "TPU224,TPU511", batches=made, main=head + trained)
