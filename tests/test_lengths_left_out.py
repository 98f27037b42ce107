"""Lengths that begin as None, where the function is called without one: ``if n is None: n = lengths.max()``."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

MASKS = """\
import torch


def sequence_mask(lengths, size=None):
    if size is None:
        size = lengths.data.max()
    steps = torch.arange(size, device=lengths.device)MARK
    return steps.unsqueeze(0) < lengths.unsqueeze(1)
"""

LOOP = """\
model = torch.nn.Embedding(50, 8).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, lengths, y in loader:
    x, lengths = x.cuda(), lengths.cuda()
    mask = sequence_mask(GIVEN)
    loss = (model(x) * mask.unsqueeze(2) - y.cuda()).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("given", "mark"), [("lengths", "  # TPU101 TPU212"), ("lengths, 40", ""), ("lengths, **options", "")]
)
@pytest.mark.parametrize("apart", [True, False])
def test_a_length_that_no_call_gives(tmp_path: Path, given: str, mark: str, apart: bool) -> None:
    masks, loop = MASKS.replace("MARK", mark), LOOP.replace("GIVEN", given)
    if apart:
        agree(tmp_path, "TPU101,TPU212", masks=masks, main="import torch\nfrom masks import sequence_mask\n" + loop)
    else:
        agree(tmp_path, "TPU101,TPU212", main=masks + loop)


@pytest.mark.parametrize(
    ("given", "is_read"), [("lengths", True), ("lengths, 40", False), ("lengths, 0", True), ("lengths, *more", True)]
)
def test_a_length_in_the_place_of_none(tmp_path: Path, given: str, is_read: bool) -> None:
    """What stands behind `or` is not asked where every call gives a number."""
    head, _, body = MASKS.replace("MARK", "").partition("    if size is None:\n        size = lengths.data.max()\n")
    line = f"    size = size or lengths.max().item(){'  # TPU101' if is_read else ''}\n"
    agree(tmp_path, "TPU101", main=head + line + body + LOOP.replace("GIVEN", given))


def test_sums_of_a_mask(tmp_path: Path) -> None:
    """Each sample goes on as long as its mask is true, whoever is given the mask; another tensor says nothing."""
    program = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(8, 4)

        def turned(self, rows, mask):
            counts = torch.sum(mask, 1).int()
            return [torch.flip(row[:count], [0]) for row, count in zip(rows, counts)]{mark}

        def forward(self, x, {name}):
            return self.body(nn.utils.rnn.pad_sequence(self.turned(x, {name}))).mean()

    device = torch.device("cuda")
    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for x, given in loader:
        optimizer.zero_grad()
        model(x.to(device), given.to(device)).backward()
        optimizer.step()
    """
    texts = {
        "told": program.format(name="row_mask", mark="  # TPU212"),
        "unsaid": program.format(name="sizes", mark=""),
    }
    agree(tmp_path, "TPU212", **texts)
