"""Tensors of as many parts as there are GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

CODE = """\
import torch

class Trainer:
    def __init__(self):
        self.gpus = torch.cuda.device_count()
        self.model = torch.nn.Linear(4, 4).cuda()
        self.centers = torch.zeros(2, 4).cuda()
        self.names = ["a"]

    def step(self, x):
        parts = {made}
        return self.model(x), parts

if __name__ == "__main__":
    print(Trainer().step(torch.zeros(2, 4).cuda()))
"""


@pytest.mark.parametrize(
    "made",
    [
        "torch.cat([self.centers] * self.gpus)",
        "torch.stack(self.gpus * [self.centers, self.centers], 1)",
        "torch.ones(self.gpus, 4)",
        "self.centers.repeat(self.gpus, 1)",
    ],
)
def test_tensors_of_no_parts(tmp_path: Path, made: str) -> None:
    agree(tmp_path, "TPU605", main=CODE.format(made=made + "  # TPU605"))


@pytest.mark.parametrize(
    "made",
    [
        "torch.cat([self.centers] * 2)",
        "torch.cat([self.centers] * len(self.names))",
        "self.names * self.gpus",
        "torch.full((2,), self.gpus)",
        "torch.cat([self.centers] * self.gpus) if self.gpus > 1 else self.centers",
    ],
)
def test_other_lengths(tmp_path: Path, made: str) -> None:
    agree(tmp_path, "TPU605", main=CODE.format(made=made))
