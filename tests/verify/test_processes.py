"""A script that trains in a process that it starts is followed there."""

from __future__ import annotations

from pathlib import Path

import pytest
from verifying import verify

pytestmark = [pytest.mark.xla, pytest.mark.slow]

LAUNCHED = """\
import subprocess
import sys

import torch
import torch.nn.functional as F
import torch_xla


def train(rank, width):
    torch.manual_seed(0)
    device = torch_xla.device()
    net = torch.nn.Linear(width, 1).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(8):
        x, y = torch.rand(8, width).to(device), torch.rand(8, 1).to(device)
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        kept = loss.item()
        optimizer.step()
        torch_xla.sync()


if __name__ == "__main__":
    subprocess.run([sys.executable, "-c", "pass"])
    torch_xla.launch(train, args=(7,), start_method="METHOD")
"""
ROW = LAUNCHED.splitlines().index("        kept = loss.item()") + 1


@pytest.mark.parametrize(("method", "limit"), [("spawn", "5"), ("fork", "0")])
def test_launched_function_is_observed(tmp_path: Path, method: str, limit: str) -> None:
    (tmp_path / "train.py").write_text(LAUNCHED.replace("METHOD", method))
    answer = verify("train.py", "--json", "--max-steps", limit, cwd=tmp_path)
    assert answer.status == 0, answer.out + answer.err
    report = answer.report
    assert (report["steps"], report["ending"]) == ((5, "stopped") if limit == "5" else (8, "finished"))
    assert [(one["row"], one["kind"]) for one in report["costs"]] == [(ROW, "sync")]
    assert any("started another process, which was not observed" in note for note in report["notes"])
