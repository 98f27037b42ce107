"""Losses that a function of another file adds up by shares, which are numbers of the host."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint

PROGRAM = """\
    import numpy as np
    import torch
    from torch import nn
    from mixing import mixed

    device = torch.device("cuda")
    model = nn.Linear(8, 3).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        share = np.random.beta(1.0, 1.0)
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        part = mixed(GIVEN)
        total += float(part.item() * x.size(0))
    print(total)
"""


@pytest.mark.parametrize(
    ("given", "result", "told"),
    [
        ("criterion, out, y, share", "share * criterion(out, y) + (1 - share) * criterion(out, y.flip(0))", True),
        ("criterion, out, y, share", "(criterion(out, y) * share)", True),
        ("criterion, out, y, share", "share", False),  # the share alone
        ("criterion, out, y, share", "1 - share", False),
        ("criterion, samples, labels, share", "share * criterion(out, y)", False),  # nothing of the device
    ],
)
def test_shares_of_losses(tmp_path: Path, given: str, result: str, told: bool) -> None:
    (tmp_path / "mixing.py").write_text(f"def mixed(criterion, out, y, share):\n    return {result}\n")
    (tmp_path / "train.py").write_text(dedent(PROGRAM).replace("GIVEN", given))
    found = tpulint("check", ".", "--select", "TPU101,TPU104", "--output-format", "concise", cwd=tmp_path)
    assert ("TPU10" in found.out) is told
