"""Branches that need GPUs, beside others that do the same without them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

SHARED = """\
def shared(model, inputs):
    ids = list(range(torch.cuda.device_count()))
    replicas = nn.parallel.replicate(model, ids)
    return nn.parallel.gather(nn.parallel.parallel_apply(replicas, nn.parallel.scatter(inputs, ids)), 0)


def plain(model, inputs):
    return model(*inputs)


"""
PROGRAM = """\
import torch
from torch import nn
IMPORT

use_cuda = torch.cuda.is_available()
SHAREDdevice = torch.device("cuda" if use_cuda else "cpu")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    x = torch.randn(4, 4).to(device)
CHOICE
    loss = y.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CHOICE = """\
    if use_cuda:
        y = shared(model, (x,))
    else:
        y = model(x)
"""


def ported(folder: Path, choice: str, *, elsewhere: bool = False) -> str:
    """The program once all fixes were made, as a second run leaves it."""
    text = PROGRAM.replace("CHOICE\n", choice).replace("SHARED", "" if elsewhere else SHARED)
    (folder / "main.py").write_text(text.replace("IMPORT", "from sharing import shared" if elsewhere else ""))
    if elsewhere:
        (folder / "sharing.py").write_text(f"import torch\nfrom torch import nn\n\n\n{SHARED}")
    texts = []
    for _ in range(2):
        tpulint("--fix", "--unsafe-fixes", "--no-cache", cwd=folder)
        texts.append((folder / "main.py").read_text())
    assert texts[0] == texts[1]
    return texts[0]


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize(
    "choice",
    [
        CHOICE,
        CHOICE.replace("y = shared", "y, _unused = shared"),  # which nobody reads
        CHOICE.replace("use_cuda", "torch.cuda.is_available()"),
        CHOICE.replace("use_cuda", "use_cuda and len(x) > 2").replace("len(x) > 2", "x is not None"),
        "    if not use_cuda:\n        y = model(x)\n    else:\n        y = shared(model, (x,))\n",
        "    y = shared(model, (x,)) if use_cuda else model(x)\n",
    ],
)
def test_what_needs_no_gpus_is_kept(tmp_path: Path, choice: str, elsewhere: bool) -> None:
    """`torch.nn.parallel.replicate` raises where there are no GPUs."""
    assert "    x = torch.randn(4, 4).to(device)\n    y = model(x)\n" in ported(tmp_path, choice, elsewhere=elsewhere)


@pytest.mark.parametrize(
    ("choice", "kept"),
    [
        (CHOICE.replace("shared", "plain"), "    y = plain(model, (x,))\n"),  # any device does that
        (CHOICE.replace("y = model(x)", "y = shared(model, (x,))"), "    y = shared(model, (x,))\n"),
        (CHOICE.replace("y = shared(", "x = x.cuda()\n        y = shared("), "    y = shared(model, (x,))\n"),
        (CHOICE.replace("y = model(x)", 'raise RuntimeError("no GPU")'), "    y = shared(model, (x,))\n"),
        (CHOICE.replace("y = shared", "y, z = shared") + "    print(z)\n", "    y, z = shared(model, (x,))\n"),
    ],
)
def test_what_a_gpu_gets_is_kept_where_nothing_stands_in(tmp_path: Path, choice: str, kept: str) -> None:
    text = ported(tmp_path, choice)
    assert kept in text and "model(x)" not in text.split("for _ in")[1]


def test_a_condition_that_runs_something_is_asked(tmp_path: Path) -> None:
    choice = CHOICE.replace("use_cuda", "use_cuda and print() is None")
    assert "    if print() is None:\n        y = shared(model, (x,))\n" in ported(tmp_path, choice)


KERNEL = """\
class Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return cupy.cumsum(x, torch.cuda.current_stream())


"""
SCAN = """\
def scan(x, use_cuda=True):
    use_cuda = use_cuda and torch.cuda.is_available()
    if use_cuda:
        assert x.is_cuda
    return Scan.apply(x) if use_cuda else x.cumsum(0)
"""


def scanned(folder: Path, scan: str, kernel: str = KERNEL, *, elsewhere: bool = False) -> tuple[str, str]:
    """A file that chooses a kernel, before and after all fixes."""
    (folder / "kernels.py").write_text(f"import cupy\nimport torch\n\n\n{kernel}")
    head = "from kernels import Scan\n\n\n" if elsewhere else f"import cupy\n\n\n{kernel}"
    text = f"import torch\n{head}{scan}\n\ndef step(x):\n    scan(x).sum().backward()\n"
    (folder / "main.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", "--no-cache", cwd=folder)
    return text, (folder / "main.py").read_text()


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize(
    "scan",
    [
        SCAN,
        SCAN.replace("Scan.apply", "Scan()"),  # the older way
        SCAN.replace("use_cuda and ", "").replace(", use_cuda=True", ""),
        "def scan(x):\n    return Scan.apply(x) if torch.cuda.is_available() else x.cumsum(0)\n",
        "def scan(x):\n    if not torch.cuda.is_available():\n        return x.cumsum(0)\n"
        "    else:\n        return Scan.apply(x)\n",
    ],
)
def test_a_choice_of_kernels_for_cuda_stays(tmp_path: Path, scan: str, elsewhere: bool) -> None:
    """Without a GPU it chooses what any device computes."""
    before, after = scanned(tmp_path, scan, elsewhere=elsewhere)
    assert after == before


@pytest.mark.parametrize(
    ("scan", "kernel"),
    [
        (SCAN, KERNEL.replace("cupy.cumsum(x, torch.cuda.current_stream())", "x.cumsum(0)")),  # runs anywhere
        (SCAN, KERNEL.replace("torch.autograd.Function", "torch.nn.Module")),  # may have a way for any device
        (SCAN.replace("x.cumsum(0)", "Scan.apply(-x)"), KERNEL),
        (SCAN.replace("assert x.is_cuda", "x = x.cuda()"), KERNEL),
    ],
)
def test_a_choice_of_what_any_device_computes_is_made(tmp_path: Path, scan: str, kernel: str) -> None:
    assert "is_available" not in scanned(tmp_path, scan, kernel)[1]


def test_the_way_without_kernels_is_kept_where_the_answer_moves_as_well(tmp_path: Path) -> None:
    scan = SCAN.replace("assert x.is_cuda", "x = x.cuda()").replace("use_cuda and ", "").replace(", use_cuda=True", "")
    after = scanned(tmp_path, scan)[1]
    assert "x = x.to(" in after and "return x.cumsum(0)" in after
