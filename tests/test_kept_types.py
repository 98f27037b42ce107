"""Tensor classes that objects keep, and that other files take from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

TYPES = """\
import torch

class Types:
    def __init__(self, cuda):
        self.Float = torch.cuda.FloatTensor if cuda else torch.FloatTensor
"""


@pytest.mark.parametrize(
    ("reader", "is_whole"),
    [
        ("from kinds import Types\nx = Types(True).Float(3)\n", False),
        ("def update(agent, x):\n    return x.type(agent.types.Float)\n", False),
        (
            "from kinds import Types\nclass Own(Types):\n    def make(self):\n        return self.Float(3)\n",
            False,
        ),
        ("from kinds import Types\ntypes = Types(True)\nprint(types.Float)\n", True),
        ("class Own:\n    def __init__(self):\n        self.Float = float\n        self.x = self.Float(3)\n", True),
        ("import fields\nx = fields.Float(3)\n", True),
    ],
)
def test_class_that_other_files_take_stays_told(tmp_path: Path, reader: str, is_whole: bool) -> None:
    """Tensors that they make would stay on the host without a word."""
    (tmp_path / "kinds.py").write_text(TYPES)
    (tmp_path / "reader.py").write_text(reader)
    answer = tpulint("--fix", "--unsafe-fixes", "--output-format=concise", "--select=TPU003", ".", cwd=tmp_path)
    assert ((tmp_path / "kinds.py").read_text() != TYPES) == is_whole
    assert ("kinds.py:5" in answer.out) != is_whole
