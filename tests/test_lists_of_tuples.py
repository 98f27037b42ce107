"""Tensors in tuples and dictionaries that lists hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

STEP = (
    SETUP
    + """\
for x, targets in loader:
        out = model(x.to(device))
        other = torch.zeros(3)
        MAKE
        optimizer.zero_grad()
        out.mean().backward()
        optimizer.step()
        USE
    """
)
MOVED = "targets = [{k: v.to(device) for k, v in t.items()} for t in targets]"
KEPT = "targets = [{k: v for k, v in t.items()} for t in targets]"
FILLED = "pairs = []\n        for i in range(2):\n            pairs.append((out + i, other))"


@pytest.mark.parametrize(
    ("make", "use", "is_told"),
    [
        (MOVED, "for t in targets: print(t['id'].item())", True),
        (MOVED, "print(targets[0]['id'].item())", True),
        (MOVED, "print({t['id'].item(): o for t, o in zip(targets, out)})", True),
        (MOVED, "print(torch.cat([t['id'] for t in targets]).sum().item())", True),
        (MOVED, "for i, t in enumerate(targets): print(i.item(), t.item())", False),
        (KEPT, "for t in targets: print(t['id'].item())", False),
        (FILLED, "a, b = pairs[0]; print(a.sum().item())", True),
        (FILLED, "a, b = pairs[0]; print(b.sum().item())", False),
        (FILLED, "for a, b in pairs: print(a.sum().item())", True),
        (FILLED, "for a, b in pairs: print(b.sum().item())", False),
        (FILLED, "for i, (a, b) in enumerate(pairs): print(a.sum().item())", True),
        (FILLED, "for (a, b), t in zip(pairs, targets): print(b.sum().item())", False),
        (FILLED, "print(pairs[0][0].sum().item())", True),
        (FILLED, "print(pairs[0][1].sum().item())", False),
        (FILLED, "print(sum(a for a, _ in pairs).mean().item())", True),
        ("pairs = [(out, 3), (out, 4)]", "for a, n in pairs: print(n.sum().item())", False),
        ("pairs = [('loss', out), ('rest', other)]", "for name, value in pairs: print(f'{name}')", False),
    ],
)
def test_what_is_read_of_lists(tmp_path: Path, make: str, use: str, is_told: bool) -> None:
    use += "  # TPU101" if is_told else ""
    agree(tmp_path, "TPU101,TPU102", train=STEP.replace("MAKE", make).replace("USE", use))


METHODS = """\
import torch
from torch import nn

class Loss:
    def __call__(self, pred, target):
        pairs = self.pairs(target)
        loss = 0
        for i, p in enumerate(pred):
            b, a = pairs[i]
            for image in b.unique():  # TPU203
                loss = loss + p[b == image].mean()  # TPU203
            print(a.sum().item())
        return loss

    def pairs(self, target):
        pairs = []
        for i in range(2):
            pairs.append((target.long(), torch.zeros(2)))
        return pairs

criterion = Loss()
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    out = model(x.cuda())
    loss = criterion((out, out), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_list_that_a_method_fills(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101,TPU203", train=METHODS)
