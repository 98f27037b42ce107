"""Sparse tensors that a dataset makes for its samples, and what becomes of them in a batch."""

from __future__ import annotations

from textwrap import indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
PROGRAM = """\
import torch
import torch_xla
from torch.utils.data import DataLoader, Dataset

device = torch_xla.device()
model = torch.nn.Linear(6, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


class Rows(Dataset):
    def __getitem__(self, at):
        return torch.sparse_coo_tensor(self.places[at], self.values[at], self.sizes[at])


def collate(samples):
{body}


for batch in DataLoader(Rows(), batch_size=4, collate_fn=collate, drop_last=True):
    optimizer.zero_grad()
    model(batch.to(device)).sum().backward()
    optimizer.step()
    torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("body", "is_told", "is_mended"),
    [
        ("return torch.stack(samples)", True, True),
        # A sparse tensor is widened by zeros, a dense one by what lies in memory.
        ("return torch.stack([one.resize_as_(samples[0]) for one in samples])", True, False),
        ("return torch.stack([one.sparse_resize_((9, 6), 2, 0) for one in samples])", True, False),
        ("batch = torch.stack([one.resize_as_(samples[0]) for one in samples])\nreturn batch.to_dense()", False, False),
        ("return torch.stack(samples).to_dense()", False, False),
    ],
)
def test_a_sample_is_made_dense_where_its_batch_only_stacks_it(body: str, is_told: bool, is_mended: bool) -> None:
    text = PROGRAM.format(body=indent(body, "    "))
    told = lint(SourceFile.from_text(text), Settings(select=("TPU007",)), CATALOGUE).findings
    assert len(told) == is_told
    settings = Settings(select=("TPU007",), fix=True, unsafe_fixes=True)
    fixed = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    assert ("self.sizes[at]).to_dense()" in fixed, fixed == text) == (is_mended, not is_mended)
