"""What a base class leaves to derived classes by ``return NotImplementedError``, and what these hand to its start."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

LOSS = """
    from torch import nn

    class Base(nn.Module):
        def __init__(self, generator):
            super().__init__()
            self.generator = generator

        def losses(self, output, target):
            LEFT

        def run(self, output, target):
            loss, right = self.losses(output, target)
            loss.backward()
            return right

        def right(self, scores, target):
            return scores.argmax(1).eq(target).sum().item()  # TPU101

    class Likelihood(Base):
        def __init__(self, generator):
            super().__init__(generator)
            self.criterion = nn.NLLLoss()

        def losses(self, output, target):
            scores = self.generator(output)
            return self.criterion(scores, target), self.right(scores, target)
"""
TRAINING = """
    import torch
    from torch import nn
    from loss import Likelihood

    net = nn.Linear(4, 4).cuda()
    loss = Likelihood(nn.Sequential(nn.Linear(4, 2), nn.LogSoftmax(-1)).cuda())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        print(loss.run(net(x.cuda()), y.cuda()))
        optimizer.step()
"""


@pytest.mark.parametrize("left", ["return NotImplementedError", "raise NotImplementedError", "pass"])
def test_what_a_derived_class_computes(tmp_path: Path, left: str) -> None:
    agree(tmp_path, "TPU101", loss=LOSS.replace("LEFT", left), train=TRAINING)


def test_what_is_handed_to_the_start_of_a_base_class_may_be_a_number(tmp_path: Path) -> None:
    number = LOSS.replace("LEFT", "pass").replace("super().__init__(generator)", "super().__init__(3)")
    number = number.replace("self.generator(output)", "output * float(self.generator)")
    agree(tmp_path, "TPU101", loss=number, train=TRAINING)
