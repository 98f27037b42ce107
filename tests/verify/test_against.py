"""``--against`` runs the original as well, and compares the losses of every backward pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from verifying import verify

pytestmark = [pytest.mark.xla, pytest.mark.slow]

ORIGINAL = """\
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.cuda.manual_seed_all(0)
assert torch.cuda.is_available()
device = torch.device("cuda:0")
torch.cuda.set_device(device)
data = TensorDataset(torch.rand(70, 6), torch.rand(70, 1))
loader = DataLoader(data, batch_size=16, shuffle=True, pin_memory=True, num_workers=2)
net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for epoch in range(2):
    for x, y in loader:
        x, y = x.cuda(non_blocking=True), y.to("cuda")
        x = x + 0.01 * torch.randn(x.shape, device="cuda")
        optimizer.zero_grad()
        with torch.autocast("cuda", enabled=False):
            loss = F.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
"""
PORT = """\
import torch
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch_xla.device()
data = TensorDataset(torch.rand(70, 6), torch.rand(70, 1))
loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=2)
net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        x = x + 0.01 * torch.randn(x.shape, device=device)
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""


def compare(folder: Path, port: str, *options: str) -> tuple[int, dict]:
    """Exit status and report."""
    (folder / "train_gpu.py").write_text(ORIGINAL)
    (folder / "train.py").write_text(port)
    answer = verify("train.py", "--against", "train_gpu.py", "--json", *options, cwd=folder, warm=True)
    return answer.status, answer.report


def test_equal(tmp_path: Path) -> None:
    status, report = compare(tmp_path, PORT)
    assert status == 0, report["failures"]
    losses = report["losses"]
    assert losses["equal"] and not losses["without_incomplete_batches"]
    assert len(losses["original"]) == len(losses["port"]) == 10
    assert len(set(losses["original"])) == 10, "losses that never change compare nothing"
    assert losses["largest_relative_difference"] < 1e-4


def test_scripted_functions_draw_the_same_numbers(tmp_path: Path) -> None:
    scripted = """\
@torch.jit.script
def disturbed(x: torch.Tensor) -> torch.Tensor:
    return x + 0.01 * torch.randn_like(x)

torch.manual_seed(0)
"""
    port = PORT.replace("torch.manual_seed(0)\n", scripted)
    port = port.replace("x + 0.01 * torch.randn(x.shape, device=device)", "disturbed(x)")
    assert "disturbed(x)" in port
    status, report = compare(tmp_path, port)
    assert status == 0, report["failures"]
    assert report["losses"]["equal"]


def test_incomplete_batches_may_be_left_out(tmp_path: Path) -> None:
    status, report = compare(tmp_path, PORT.replace("shuffle=True,", "shuffle=True, drop_last=True,"))
    assert status == 0, report["failures"]
    assert report["losses"]["without_incomplete_batches"]
    assert len(report["losses"]["port"]) == 8


def test_different_in_a_limit_of_steps(tmp_path: Path) -> None:
    status, report = compare(tmp_path, PORT.replace("lr=0.1", "lr=1.0"), "--max-steps", "3")
    assert status == 1
    assert len(report["losses"]["original"]) == len(report["losses"]["port"]) == 3, "it holds for both"
    (failure,) = report["failures"]
    assert failure["kind"] == "losses"
    # The first loss comes before the first step of the optimizer.
    assert "the first in step 2 (backward 2)" in failure["message"]
    assert report["losses"]["first_difference"] == 1
    assert not any("left" in note for note in report["notes"])


def test_an_original_that_begins_with_what_the_port_has_left(tmp_path: Path) -> None:
    """It is told what may be the reason; where the first losses are equal, files are no matter."""
    resumes = """\
if os.path.exists("kept.pt"):
    net.load_state_dict(torch.load("kept.pt"))
"""
    keeps = """\
    torch.save({name: value.cpu() for name, value in net.state_dict().items()}, "kept.pt")
"""
    trains = "for epoch in range(2):\n"
    original = ORIGINAL.replace(trains, resumes + trains) + keeps
    port = PORT.replace(trains, resumes + trains) + keeps
    (tmp_path / "train_gpu.py").write_text(f"import os\n{original}")
    (tmp_path / "train.py").write_text(f"import os\n{port}")
    answer = verify("train.py", "--against", "train_gpu.py", "--json", cwd=tmp_path, warm=True)
    assert answer.status == 1
    assert answer.report["losses"]["first_difference"] == 0
    assert any("left kept.pt here" in note for note in answer.report["notes"]), answer.report["notes"]


def test_nothing_is_trained(tmp_path: Path) -> None:
    early = "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    port = PORT.replace(early, "").replace(".to(device)\n", "\n", 1)
    port = port.replace("for epoch", f"{early}net.to(device)\nfor epoch", 1)
    status, report = compare(tmp_path, port)
    assert status == 1
    assert {one["kind"] for one in report["failures"]} == {"optimizer", "losses"}


def test_original_fails(tmp_path: Path) -> None:
    (tmp_path / "train_gpu.py").write_text("import torch\nraise RuntimeError('no GPU code here')\n")
    (tmp_path / "train.py").write_text(PORT)
    answer = verify("train.py", "--against", "train_gpu.py", "--json", cwd=tmp_path, warm=True)
    assert answer.status == 1
    assert answer.report["losses"] is None
    assert [(one["kind"], one["message"], one["row"]) for one in answer.report["failures"]] == [
        ("original", "the original: the script failed: RuntimeError: no GPU code here", 2)
    ]


RECURRENT = """\
import torch
{imports}
torch.manual_seed(0)
device = {device}
net = torch.nn.GRU(4, 4, batch_first=True).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept = None
for step in range(4):
    out, _ = net(torch.randn(2, 5, 4).to(device))
    optimizer.zero_grad()
    out.pow(2).mean().backward()
    optimizer.step()
    {boundary}
    if step == 1:
        kept = {{name: value.cpu() for name, value in net.state_dict().items()}}
    if step == 2:
        net.load_state_dict(kept)
    {boundary}
"""


def test_what_torch_xla_traces_is_no_step_and_what_is_fetched_is_a_copy(tmp_path: Path) -> None:
    """The GRU of torch_xla runs a backward pass of its own; on a GPU ``cpu()`` keeps the weights as they are then."""
    original = RECURRENT.format(imports="", device='torch.device("cuda")', boundary="pass")
    port = RECURRENT.format(imports="import torch_xla", device="torch_xla.device()", boundary="torch_xla.sync()")
    (tmp_path / "train_gpu.py").write_text(original)
    (tmp_path / "train.py").write_text(port)
    answer = verify("train.py", "--against", "train_gpu.py", "--json", cwd=tmp_path, warm=True)
    assert answer.status == 0, answer.report["failures"]
    assert answer.report["losses"]["equal"]
    assert len(answer.report["losses"]["port"]) == 4
