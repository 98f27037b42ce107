"""Elements of a batch that are put back, on the device, where they were taken from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import tpulint
from test_host_sync_rules import check

START = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 2).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)

def place(batch):
    for k, v in batch.items():
        batch[k] = v.to(device)
    return batch

for batch in loader:
    PLACED
    print(READ)
    loss = nn.functional.mse_loss(model(batch["x"].to(device)), batch["y"].to(device))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("placed", "read", "told"),
    [
        ('batch["x"] = batch["x"].to(device)', 'batch["x"].sum().item()', True),
        ("batch[0] = batch[0].to(device)", "batch[0].sum().item()", True),
        ("for k in batch:\n        batch[k] = batch[k].to(device)", 'batch["x"].sum().item()', True),
        ("for k, v in batch.items():\n        batch[k] = v.to(device)", 'float(batch["x"].sum())', True),
        ("batch = place(batch)", 'batch["x"].sum().item()', True),
        ('batch["y"] = batch["y"].to(device)', 'batch["x"].sum().item()', False),  # another one
        ('batch["x"] = batch["x"].float()', 'batch["x"].sum().item()', False),
        ("for k in names:\n        batch[k] = batch[k].to(device)", 'batch["x"].sum().item()', False),
        ('if wide:\n        batch["x"] = batch["x"].to(device)', 'batch["x"].sum().item()', False),
        ("batch[0] = torch.ones(8).to(device)", "batch[0].sum().item()", False),  # into a tensor, perhaps
        (
            "for k, v in batch.items():\n        if torch.is_tensor(v):\n            batch[k] = v.to(device)",
            'batch["x"][0]',
            False,
        ),
        ("batch = place(batch)\n    batch['x'] = batch['x'].cpu()", 'batch["x"].sum().item()', False),
        ("n = 1", 'batch["x"].sum().item()', False),
    ],
)
def test_elements_that_are_put_back(placed: str, read: str, told: bool) -> None:
    found = check(START.replace("PLACED", placed).replace("READ", read), ("TPU101",))
    assert bool(found) is told


MOVED = "for k, v in batch.items():\n            batch[k] = v.to(device)"
TRAINER = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from losses import judge

device = torch.device("cuda")

class Trainer:
    def __init__(self, samples):
        self.model = nn.Linear(8, 2).to(device)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.loader = DataLoader(samples, 8, drop_last=True)

    def train(self):
        for batch in self.loader:
            loss = self.process(batch)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    def process(self, batch):
        PLACED
        judge(batch)
        return self.predict(batch)

    def predict(self, batch):
        print(float(batch["color", 0].sum()))
        return self.model(batch["color", 0].to(device)).mean()

Trainer(samples).train()
"""
JUDGE = """\
def judge(batch):
    if batch["depth"].sum() == 0:
        print("empty")
"""


@pytest.mark.parametrize(
    ("placed", "told"),
    [
        (MOVED, ["losses.py:2", "trainer.py:28"]),
        ("for k, v in batch.items():\n            batch[k] = v.float()", []),
        ('batch["y"] = batch["y"].to(device)', []),
        ("self.predict(batch)\n        " + MOVED, ["losses.py:2", "trainer.py:29"]),  # of two calls, one waits
    ],
)
def test_elements_that_are_put_back_before_the_batch_is_handed_on(tmp_path: Path, placed: str, told: list[str]) -> None:
    (tmp_path / "trainer.py").write_text(TRAINER.replace("PLACED", placed))
    (tmp_path / "losses.py").write_text(JUDGE)
    said = tpulint("--select", "TPU101,TPU103", "--output-format", "concise", ".", cwd=tmp_path).out
    assert re.findall(r"^(\w+\.py:\d+)", said, re.MULTILINE) == told
