"""Models, and parts of them, that `DataParallel` itself moves where there is one GPU: without it nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

PROGRAM = """\
import torch
from torch import nn
from helpers import build, build_there, place

device = torch.device("cuda")


class Net(nn.Module):
    def __init__(self, at=None):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)


def main():
    {made}
    for step in range(4):
        x = torch.randn(8, 4)
        {run}
"""
HELPERS = """\
from torch import nn


def build(size):
    return nn.Linear(size, 2)


def build_there(size):
    return nn.Linear(size, 2).cuda()


def place(net):
    net.cuda()
"""


def ported(folder: Path, **files: str) -> str:
    """The file ``main`` after all fixes; a second run changes nothing."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=folder)
    text = (folder / "main.py").read_text()
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=folder)
    assert text == (folder / "main.py").read_text()
    return text


@pytest.mark.parametrize(
    ("made", "run", "line"),
    [
        ("net = nn.DataParallel(nn.Linear(4, 2))", "net(x)", "net = nn.Linear(4, 2).to(device)"),
        ("net = nn.DataParallel(Net())", "net(x)", "net = Net().to(device)"),
        ("net = nn.DataParallel(build(4))", "net(x)", "net = build(4).to(device)"),
        ("net = nn.DataParallel(Net(), device_ids=[0])", "net(x.cuda())", "net = Net().to(device)"),
        ("net = Net()\n    net = nn.DataParallel(net)", "net(x)", "net = net.to(device)"),
        ("net = Net()\n    wrapped = nn.DataParallel(net)", "wrapped(x)", "wrapped = net.to(device)"),
        ("net = nn.DataParallel(Net() if big else nn.Linear(4, 2))", "net(x)",
         "net = (Net() if big else nn.Linear(4, 2)).to(device)"),
        # Something else moves it.
        ("net = nn.DataParallel(Net().cuda())", "net(x)", "net = Net().to(device)"),
        ("net = nn.DataParallel(Net()).cuda()", "net(x)", "net = Net().to(device)"),
        ("net = nn.DataParallel(Net())\n    net.cuda()", "net(x)", "net.to(device)"),
        ("net = Net()\n    net.cuda()\n    net = nn.DataParallel(net)", "net(x)", "net.to(device)"),
        ("net = nn.DataParallel(Net())\n    place(net)", "net(x)", "net = Net()"),
        ("net = nn.DataParallel(build_there(4))", "net(x)", "net = build_there(4)"),
        ("net = nn.DataParallel(Net(device))", "net(x)", "net = Net(device)"),
        # What it is given, nobody knows, and nothing else is on a device.
        ("net = nn.DataParallel(Net())", "net(choose(x))", "net = Net()"),
    ],
)  # fmt: skip
def test_models_that_the_wrapper_moved(tmp_path: Path, made: str, run: str, line: str) -> None:
    text = ported(tmp_path, main=PROGRAM.format(made=made, run=run), helpers=HELPERS)
    assert "DataParallel" not in text
    assert f"    {line}\n" in text, text
    assert text.count("net.to(") + text.count(").to(device)\n    for") <= 1


@pytest.mark.parametrize("asked", ["torch.cuda.is_available()", "torch.cuda.device_count() > 0"])
def test_a_branch_for_gpus_moves_nothing(tmp_path: Path, asked: str) -> None:
    """It is not taken on a TPU machine: what the wrapper moved moves where it is made."""
    main = f"""\
import torch
from torch import nn

net = nn.Linear(4, 3)
if {asked}:
    net = nn.DataParallel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in data:
    loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    text = ported(tmp_path, main=main)
    assert "net = nn.Linear(4, 3).to(device)\noptimizer" in text, text
    assert "DataParallel" not in text and "torch.cuda" not in text


def test_a_part_of_a_module_moves_with_it(tmp_path: Path) -> None:
    main = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.DataParallel(nn.Linear(4, 2))

    def forward(self, x):
        return self.layer(x)


net = Net().cuda()
print(net(torch.ones(1, 4).cuda()))
"""
    assert "self.layer = nn.Linear(4, 2)\n" in ported(tmp_path, main=main)


def test_a_wrapped_argument_is_left_to_its_callers(tmp_path: Path) -> None:
    main = """\
import torch
from torch import nn


def train(net, loader):
    net = nn.DataParallel(net)
    for x, y in loader:
        nn.functional.mse_loss(net(x.cuda()), y.cuda()).backward()
"""
    text = ported(tmp_path, main=main)
    assert "DataParallel" not in text and "net.to(" not in text


PARTS = """\
import sys
import torch
import torchvision.models as models
from torch import nn
from helpers import evaluate

device = torch.device("cuda")


def main(loader):
    model = models.__dict__[sys.argv[1]]()
    other = nn.Linear(4, 2)
    {wrapped}
    model.to(device)
    other.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(loader, model, optimizer, other)
    evaluate(loader, model)


def train(loader, model, optimizer, other):
    for images, labels in loader:
        labels = labels.to(device)
        loss = nn.functional.cross_entropy({run}, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
EVALUATE = """\
def evaluate(loader, model):
    for image, label in loader:
        print(model(image{}))
"""


@pytest.mark.parametrize(
    ("wrapped", "run", "is_moved"),
    [
        ("model.features = nn.DataParallel(model.features)", "model(images)", True),
        ("model.features = torch.nn.DataParallel(model.features, [0, 1])", "model(images)", True),
        ("model = nn.DataParallel(model)", "model(images)", True),
        ("model.features = nn.DataParallel(model.features)", "model(images.to(device))", False),
        ("model.features = nn.DataParallel(model.features)", "other(images)", False),
        ("model.features = nn.DataParallel(model.features)", "model.score(images)", False),
        ("other.part = nn.DataParallel(other.part)", "model(images)", False),
        ("model.features = model.layers", "model(images)", False),
    ],
)
def test_a_part_moved_what_the_whole_is_given(tmp_path: Path, wrapped: str, run: str, is_moved: bool) -> None:
    text = ported(tmp_path, main=PARTS.format(wrapped=wrapped, run=run), helpers=EVALUATE.format(".cuda()"))
    assert "DataParallel" not in text
    moved = run.replace("(images)", "(images.to(device))") if is_moved else run
    assert f"cross_entropy({moved}, labels)" in text, text
    assert "move_inputs" not in text


@pytest.mark.parametrize(("moved", "is_left"), [("", True), (".cuda()", False)])
def test_a_part_moves_for_other_files(tmp_path: Path, moved: str, is_left: bool) -> None:
    main = PARTS.format(wrapped="model.features = nn.DataParallel(model.features)", run="model(images)")
    text = ported(tmp_path, main=main, helpers=EVALUATE.format(moved))
    assert ("tpulint_runtime.move_inputs(model.features)" in text) is is_left


DEALT = """\
import torch
from torch import nn
from elsewhere import Loader

device = torch.device("cuda")
model = nn.DataParallel(build()).to(device)
loader = {loader}
for {parts} in loader:
    {moved}
    print(model({given}))
"""


@pytest.mark.parametrize(
    ("loader", "parts", "moved", "given", "is_moved"),
    [
        ("[(torch.rand(2, 4), torch.zeros(2))]", "x, y", "y = y.to(device)", "x", True),
        ("Loader('train')", "image, label", "label = label.to(device)", "image", True),
        ("Loader('train')", "k, (x, y)", "y = y.to(device); print(x.size(0))", "x", True),
        ("Loader('train')", "x, y", "y = y.to(device)", "x", False),  # a list, a dict, or what else it makes
        ("Loader('train')", "image, label", "image, label = image.to(device), label.to(device)", "image", False),
        ("Loader('train')", "image, label", "print(label)", "image", False),  # nobody moves anything
        ("Loader('train')", "image, label", "image = image.to(device)", "image", False),
        ("[(read(), torch.zeros(2))]", "captions, label", "label = label.to(device)", "captions", False),
    ],
)
def test_parts_of_batches_from_nobody_knows_where(
    tmp_path: Path, loader: str, parts: str, moved: str, given: str, is_moved: bool
) -> None:
    """Whoever moves the labels and not the images leaves them to the wrapper."""
    text = ported(tmp_path, main=DEALT.format(loader=loader, parts=parts, moved=moved, given=given))
    assert "DataParallel" not in text
    assert (f"model({given}.to(device))" if is_moved else f"model({given})") in text, text


ELEMENTS = """\
import sys
import torch
from torch import nn

device = torch.device("cuda")
nets = [nn.Linear(4, 4).to(device), nn.Linear(4, 4).to(device)]
FIRST = 0
{wrapped}
print([net(torch.ones(1, 4, device=device)) for net in nets])
"""
AROUND = "print([net(torch.ones(1, 4, device=device)) for net in nets])"


@pytest.mark.parametrize(
    ("wrapped", "left"),
    [
        ("for i in range(len(nets)):\n    nets[i] = nn.DataParallel(nets[i])", ""),
        ("if sys.argv:\n    for i in range(2):\n        nets[i] = nn.DataParallel(nets[i])", ""),
        ("nets[0] = nn.DataParallel(nets[0])", ""),
        ("nets[FIRST] = nn.DataParallel(nets[FIRST])", ""),
        ("nets[0] = nn.DataParallel(nets[1])", "nets[0] = nets[1]\n"),
        ("nets[i + 1] = nn.DataParallel(nets[i])", "nets[i + 1] = nets[i]\n"),
        # A loop that does more: it tells its last number, draws, or takes something out.
        ("for i in range(2):\n    nets[i] = nn.DataParallel(nets[i])\nprint(i)",
         "for i in range(2):\n    pass\nprint(i)\n"),
        ("for i in draw():\n    nets[i] = nn.DataParallel(nets[i])", "for i in draw():\n    pass\n"),
        ("for i in range(2):\n    nets[i] = nn.DataParallel(nets[i])\nelse:\n    print()",
         "for i in range(2):\n    pass\nelse:\n    print()\n"),
        ("for i in range(2):\n    print(i)\n    nets[i] = nn.DataParallel(nets[i])",
         "for i in range(2):\n    print(i)\n"),
        ("if draw():\n    for i in range(2):\n        nets[i] = nn.DataParallel(nets[i])", "if draw():\n    pass\n"),
    ],
)  # fmt: skip
def test_elements_that_are_wrapped_in_their_place(tmp_path: Path, wrapped: str, left: str) -> None:
    text = ported(tmp_path, main=ELEMENTS.format(wrapped=wrapped))
    assert f"FIRST = 0\n{left}{AROUND}" in text, text


def test_states_of_elements_lose_the_prefix(tmp_path: Path) -> None:
    wrapped = 'nets[0] = nn.DataParallel(nets[0])\nnets[0].load_state_dict(torch.load("net.pt"))'
    text = ported(tmp_path, main=ELEMENTS.format(wrapped=wrapped))
    assert 'consume_prefix_in_state_dict_if_present(state, "module.")\nnets[0].load_state_dict(state)\n' in text
    text = ported(tmp_path, main=ELEMENTS.format(wrapped=wrapped.replace("nets[0].l", "nets[1].l")))
    assert "consume_prefix" not in text


@pytest.mark.parametrize(("index", "read", "is_unwrapped"), [("0", "0", True), ("i", "i", True), ("i", "k", False)])
def test_what_elements_are_wrapped_around(tmp_path: Path, index: str, read: str, is_unwrapped: bool) -> None:
    wrapped = f"for i in range(2):\n    nets[{index}] = nn.DataParallel(nets[{index}])\n"
    wrapped += f"for {'k' if read == 'k' else 'i'} in range(2):\n    print(nets[{read}].module.weight)"
    text = ported(tmp_path, main=ELEMENTS.format(wrapped=wrapped))
    assert ("DataParallel" not in text) is is_unwrapped
    assert (f"print(nets[{read}].weight)" in text) is is_unwrapped


WHOLE = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from samples import SAMPLES, moved

model = {made}
for batch in DataLoader(SAMPLES, batch_size=8, drop_last=True):
    {run}
"""


@pytest.mark.parametrize(
    ("made", "run", "is_left"),
    [
        ("nn.DataParallel(nn.Linear(4, 2)).cuda()", "model(batch)", True),
        ("nn.DataParallel(nn.Linear(4, 2).cuda())", "model(batch)", True),
        ("nn.DataParallel(nn.Linear(4, 2)).cuda()", "model(batch.cuda())", False),
        ("nn.DataParallel(nn.Linear(4, 2)).cuda()", "batch = moved(batch)\n    model(batch)", False),
        ("nn.DataParallel(nn.Linear(4, 2)).cuda()", 'print(batch["x"])\n    model(batch)', False),
        ("nn.Linear(4, 2).cuda()", "model(batch)", False),
    ],
)
def test_a_model_moves_a_batch_that_is_a_tensor_or_holds_some(
    tmp_path: Path, made: str, run: str, is_left: bool
) -> None:
    """Nothing tells whether it has a `to`; without the wrapper the first step ended where nothing moved it."""
    text = ported(tmp_path, main=WHOLE.format(made=made, run=run))
    assert "DataParallel" not in text
    assert ("tpulint_runtime.move_inputs(model)" in text) is is_left


ENGINE = """\
def train(model, loader, optimizer):
    for i, (x, y) in enumerate(loader):
        MOVED
        out = model(x)
        y = y.cuda(non_blocking=True)
        (out - y).square().mean().backward()
        optimizer.step()
"""
REPLICA = """\
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from engine import train


def main(gpu, net, loader):
    model = DistributedDataParallel(net.cuda(gpu), device_ids=[gpu])
    train(model, loader, torch.optim.SGD(model.parameters(), lr=0.1))
"""


@pytest.mark.parametrize(("moved", "is_left"), [("pass", True), ("x = x.cuda()", False)])
def test_a_replica_moved_what_other_files_give(tmp_path: Path, moved: str, is_left: bool) -> None:
    """`device_ids` moved the batch to the GPU of the process."""
    text = ported(tmp_path, main=REPLICA, engine=ENGINE.replace("MOVED", moved))
    assert ("    tpulint_runtime.move_inputs(model)\n" in text) is is_left
    assert "device_ids" not in text
