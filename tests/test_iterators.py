"""Classes whose objects make batch after batch in ``__next__``, in the file of the loop and in another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

HEAD = """
    import torch

    class Batches:
        def __init__(self, rows, size):
            self.rows, self.size, self.at = rows, size, 0

        def __iter__(self):
            self.at = 0
            return self

        def __next__(self):
"""
STEPPED = """
            if self.at >= len(self.rows):
                raise StopIteration
            batch = self.rows[self.at : self.at + self.size]{mark}
            self.at += self.size
            return batch
"""
RESTED = """
            if self.at == len(self.rows):
                raise StopIteration
            end = min(self.at + self.size, len(self.rows))
            batch = tuple(part[self.at : end] for part in (self.rows,)){mark}
            self.at = end
            return batch[0]
"""
LEFT_OUT = """
            if self.at + self.size > len(self.rows):
                raise StopIteration
            batch = self.rows[self.at : self.at + self.size]
            self.at += self.size
            return batch
"""
ASKED = """
            if self.drop_last and self.at + self.size > len(self.rows):
                raise StopIteration
            if self.at >= len(self.rows):
                raise StopIteration
            batch = self.rows[self.at : self.at + self.size]
            self.at += self.size
            return batch
"""
OTHER = """
            if self.at >= len(self.rows):
                raise StopIteration
            batch = self.rows[self.at : self.at + 2 * self.size]
            self.at += self.size
            return batch
"""
TRAIN = """
    for x in Batches(rows, 8):
        optimizer.zero_grad()
        model(x.to(device)).mean().backward()
        optimizer.step()
"""
EVALUATE = """
    model.eval()
    with torch.no_grad():
        for x in Batches(rows, 8):
            model(x.to(device))
"""


@pytest.mark.parametrize("body", [STEPPED, RESTED])
@pytest.mark.parametrize(("loop", "code"), [(TRAIN, "TPU511"), (EVALUATE, "TPU516")])
@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_what_is_left_is_the_last_batch(tmp_path: Path, body: str, loop: str, code: str, is_elsewhere: bool) -> None:
    batches = HEAD + body.replace("{mark}", f"  # {code}")
    if is_elsewhere:
        agree(tmp_path, code, batches=batches, main=SETUP + "\n    from batches import Batches\n" + loop)
    else:
        agree(tmp_path, code, main=SETUP + batches + loop)


@pytest.mark.parametrize("body", [LEFT_OUT, ASKED, OTHER])
def test_batches_that_are_alike_or_may_be(tmp_path: Path, body: str) -> None:
    agree(tmp_path, "TPU511", main=SETUP + HEAD + body + TRAIN)
