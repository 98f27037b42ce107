"""Tables that a module keeps on the host become buffers, unless the module may become another dtype with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.table = torch.ones(512, 8)

    def forward(self, x):
        USED


net = Net().to(torch.device("cuda"))
"""
PLAIN = "return self.layer(x) + self.table.to(x.device)[: len(x)]"


@pytest.mark.parametrize(
    ("used", "other", "becomes"),
    [
        (PLAIN, "net.eval()", "buffer"),
        (PLAIN, "net.bfloat16()", "kept"),
        (PLAIN, "net.to(dtype=torch.float64)", "kept"),
        ("return sum(self.table.to(y.device) for y in x)", "net.half()", "left"),
        ("if self.table.to(x.device).sum() > 0:\\n            return x", "net.half()", "left"),
    ],
)
def test_tables_and_dtypes_that_another_file_gives(tmp_path: Path, used: str, other: str, becomes: str) -> None:
    (tmp_path / "net.py").write_text(NET.replace("USED", used))
    (tmp_path / "main.py").write_text(f"import torch\nfrom net import net\n\n{other}\n")
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU018", ".", cwd=tmp_path)
    ported = (tmp_path / "net.py").read_text()
    assert ('register_buffer("table"' in ported) == (becomes == "buffer")
    kept = "        self.table = self.table.to(x.device)\n        return self.layer(x)"
    assert (kept in ported) == (becomes == "kept")
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU018", ".", cwd=tmp_path)
    assert (tmp_path / "net.py").read_text() == ported
