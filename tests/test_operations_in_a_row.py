"""Operations of the host that are called on each other's results, which all begin in one place."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
PROGRAM = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = {}
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("loss", "operations"),
    [
        ("model(x.to(device)).unfold(0, 2, 1).unfold(1, 2, 1).mean()", ["unfold"]),
        ("model(x.to(device)).unfold(0, 2, 1).logcumsumexp(1).mean()", ["logcumsumexp", "unfold"]),
        ("(model(x.to(device)).unfold(0, 2, 1).mean() + model(x.to(device)).unfold(1, 2, 1).mean())", ["unfold"] * 2),
    ],
)
def test_each_operation_is_told_once_where_it_begins(loss: str, operations: list[str]) -> None:
    text = PROGRAM.format(loss)
    found = lint(SourceFile.from_text(text), Settings(select=("TPU135",)), CATALOGUE).findings
    assert sorted(finding.message.partition("`")[2].partition("`")[0] for finding in found) == operations
