"""Models that only the branch for several GPUs moves, which a port leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

PROGRAM = """\
import torch
from torch import nn

model = nn.Linear(4, 1)
{before}
if torch.cuda.device_count() > 1:
    print(torch.cuda.device_count(), "GPUs")
{branch}
{behind}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    {moves}
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MOVES = "x, y = x.cuda(), y.cuda()"


def ported(folder: Path, branch: str, before: str = "", behind: str = "", moves: str = MOVES) -> str:
    text = PROGRAM.format(branch=branch, before=before, behind=behind, moves=moves)
    (folder / "train.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU0,TPU604", ".", cwd=folder)
    return (folder / "train.py").read_text()


@pytest.mark.parametrize(
    ("branch", "move"),
    [
        ("    model = nn.DataParallel(model).cuda()", "model = model.to(device)"),
        ("    model = nn.DataParallel(model.cuda())", "model = model.to(device)"),
        ("    model = nn.DataParallel(model)\n    model.cuda()", "model.to(device)"),
        ("    model.cuda()\n    model = nn.DataParallel(model)", "model.to(device)"),
        ("    # of which each gets a part\n    model = nn.DataParallel(model).to('cuda')", "model = model.to(device)"),
    ],
)
def test_the_move_stays(tmp_path: Path, branch: str, move: str) -> None:
    text = ported(tmp_path, branch)
    assert "device_count" not in text and "DataParallel" not in text
    assert f"\n{move}\n" in text and "x, y = x.to(device), y.to(device)" in text


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("model.cuda()", ""),
        ("", "model = model.cuda()"),
        ("", "if torch.cuda.is_available():\n    model.cuda()"),
        ("def place(net):\n    net.cuda()\n\nplace(model)", ""),
    ],
)
def test_what_is_moved_anyway_is_moved_once(tmp_path: Path, before: str, behind: str) -> None:
    text = ported(tmp_path, "    model = nn.DataParallel(model).cuda()", before, behind)
    assert "device_count" not in text
    assert text.count("model.to(device)") + text.count("net.to(device)") == 1


def test_inputs_that_the_wrapper_moved_go_where_the_model_goes(tmp_path: Path) -> None:
    text = ported(tmp_path, "    model = nn.DataParallel(model).cuda()", moves="pass")
    assert "\nmodel = model.to(" in text and "model(x.to(" in text


def test_where_nothing_else_is_moved_all_stays_on_the_host(tmp_path: Path) -> None:
    text = ported(tmp_path, "    model = nn.DataParallel(model).cuda()", moves="x = numbers()")
    assert "device_count" not in text and ".to(" not in text


def test_a_branch_of_which_more_is_left_stays(tmp_path: Path) -> None:
    text = ported(tmp_path, "    model = nn.DataParallel(model).cuda()", behind="else:\n    print('one GPU')")
    assert "nn.DataParallel(model)" in text
