"""Tensors in the lists of a dictionary, ``meters["loss"].append(loss)``, and sums under its keys."""

from __future__ import annotations

import pytest
from test_host_sync_rules import check

START = """
import collections
meters = MADE
for x, y in loader:
    loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    STORED
    print(READ)
"""


@pytest.mark.parametrize(
    ("made", "stored", "read", "told"),
    [
        ("collections.defaultdict(list)", 'meters["loss"].append(loss.detach())', 'meters["loss"][-1].item()', True),
        ('{"loss": []}', 'meters["loss"].append(loss.detach())', 'sum(meters["loss"]).item()', True),
        ('{"loss": []}', "meters[name].append(loss.detach())", 'meters["loss"][-1].item()', True),
        ('{"loss": [torch.ones(3).mean().cuda()]}', 'meters["loss"].append(3.0)', 'float(meters["loss"][0])', True),
        ('{"loss": 0.0}', 'meters["loss"] += loss.detach()', "{k: float(v) for k, v in meters.items()}", True),
        ("collections.defaultdict(float)", 'meters["loss"] += loss.detach()', 'meters["loss"].item()', True),
        ('{"loss": []}', 'meters["loss"].append(len(x))', 'float(meters["loss"][-1])', False),
        ('{"loss": [], "n": []}', 'meters["loss"].append(loss.detach())', 'float(meters["n"][-1])', False),
        ('{"loss": 0.0, "n": 0}', 'meters["loss"] += loss.detach()', 'float(meters["n"])', False),
        ('{"loss": 0.0}', 'meters["loss"] += len(x)', 'float(meters["loss"])', False),
    ],
)
def test_what_is_under_a_key(made: str, stored: str, read: str, told: bool) -> None:
    text = START.replace("MADE", made).replace("STORED", stored).replace("READ", read)
    assert bool(check(text, ("TPU101",))) is told


SUMMED = """
losses = {}
for x, y in loader:
    optimizer.zero_grad()
    part = MADE
    losses["part"] = part
    total = 0
    total += part
    total.backward()
    optimizer.step()
    for name, value in losses.items():
        print(value.mean().item())
"""


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("criterion(model(x.cuda()), y.cuda())", True),
        ("criteria.criterion(model(x.cuda()), y.cuda()) / 4", True),
        ("annealed(x, y)", False),  # a weight, as far as anybody knows
        ("loss_weight(x)", False),
    ],
)
def test_parts_of_a_loss_that_a_criterion_nobody_sees_gives(made: str, told: bool) -> None:
    text = "criterion = getattr(criteria, settings.criterion)()\n" + SUMMED.replace("MADE", made)
    assert bool(check(text, ("TPU101",))) is told
