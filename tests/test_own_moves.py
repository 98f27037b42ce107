"""Modules that move themselves in methods ``cuda`` and ``to`` of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

CODE = """\
import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.depths = torch.ones(4)

    def cuda(self):
        super().cuda()
        self.depths = self.depths.cuda()

    def to(self, device):
        BODY

"""
PROGRAM = """\
import torch
from nets import Encoder

device = torch.device("cuda")
net = Encoder()
net.to(device)
print(net(torch.ones(4, device=device)))
"""
CALLS = """\
if str(device) == "cpu":
            self.cpu()
        elif str(device) == "cuda":
            self.cuda()
        else:
            raise NotImplementedError"""
MOVES = "super().to(device)\n        self.depths = self.depths.to(device)"


@pytest.mark.parametrize(("body", "told"), [(CALLS, True), (MOVES, False)])
def test_a_move_that_calls_the_own_one_for_cuda(tmp_path: Path, body: str, told: bool) -> None:
    file = tmp_path / "nets.py"
    file.write_text(CODE.replace("BODY", body))
    (tmp_path / "train.py").write_text(PROGRAM)
    tpulint("check", ".", "--fix", "--unsafe-fixes", cwd=tmp_path)
    text = file.read_text()
    assert ("            self.cuda()\n" in text) is told  # `self.to(device)` would call itself for ever
    assert "self.to(" not in text
    assert ('elif torch.device(device).type == "xla":' in text) is told  # "xla" as well as "xla:0"
    assert ("TPU002" in tpulint("check", "nets.py", "--output-format", "concise", cwd=tmp_path).out) is told


NORMALIZER = """\
class Normalizer:
    def __init__(self, x):
        self.mean, self.std = x.mean(0), x.std(0)

    def cuda(self):
        self.mean = self.mean.cuda()
        self.std = self.std.cuda()

    def to(self, PARAMETER):
        BODY

    def decode(self, x):
        return x * self.std + self.mean
"""
USER = """\
import torch
from normalizers import Normalizer

normalizer = Normalizer(torch.ones(4, 4))
normalizer.cuda()
print(normalizer.decode(torch.ones(4).cuda()))
"""


@pytest.mark.parametrize(
    ("parameter", "body", "is_moved"),
    [
        ("device", "self.mean, self.std = self.mean.to(device), self.std.to(device)", True),
        ("device", "self.cuda()", False),
        ("dtype", "self.mean, self.std = self.mean.to(dtype), self.std.to(dtype)", False),
    ],
)
def test_a_class_of_another_file_that_has_both(tmp_path: Path, parameter: str, body: str, is_moved: bool) -> None:
    (tmp_path / "normalizers.py").write_text(NORMALIZER.replace("PARAMETER", parameter).replace("BODY", body))
    file = tmp_path / "train.py"
    file.write_text(USER)
    tpulint("check", ".", "--fix", "--unsafe-fixes", cwd=tmp_path)
    text = file.read_text()
    assert ("normalizer.to(device)" in text) is is_moved
    assert ("normalizer.cuda()" in text) is not is_moved
    tpulint("check", ".", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert file.read_text() == text
