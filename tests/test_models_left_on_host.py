"""Models that are trained on tensors of the device, and that nothing puts there."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import agree

PROGRAM = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from others import Network, prepare

device = torch.device("cuda")


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = nn.Linear(4, width)

    def forward(self, x):
        return self.layer(x)


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)


class Pair(nn.Module):
    def __init__(self, first, last):
        super().__init__()
        self.first, self.last = first, last

    def forward(self, x):
        return self.last(self.first(x))


moved, left, unseen = Net().to(device), nn.Linear(4, 4), prepare(Net())


def main(samples):
    model = MADE
    BEFORE
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in DataLoader(samples, batch_size=8, drop_last=True):
        x = x.to(device)
        optimizer.zero_grad()
        loss = model(INPUT).mean()
        loss.backward()
        optimizer.step()
    AFTER


main(torch.ones(64, 4))
"""
PUT = """

def put(module):
    module.to(device)
"""
OTHERS = """\
from torch import nn


class Network(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(4, width)MOVE

    def forward(self, x):
        return self.layer(x)


def prepare(module):
    return module
"""


def run(folder: Path, made: str = "Net()", before: str = "pass", given: str = "x", move: str = "", **more: str) -> str:
    text = PROGRAM.replace("MADE", made).replace("BEFORE", before).replace("INPUT", given)
    text = text.replace("AFTER", more.get("after", "pass")) + (PUT if "put(" in before else "")
    (folder / "main.py").write_text(text)
    (folder / "others.py").write_text(OTHERS.replace("MOVE", move))
    tpulint("--preview", "--fix", "--unsafe-fixes", "--select", "TPU027", "main.py", cwd=folder)
    return (folder / "main.py").read_text()


@pytest.mark.parametrize(
    ("made", "before"),
    [
        ("Net()", "pass"),
        ("Net(width=8)", "model.train()"),
        ("nn.Sequential(nn.Linear(4, 4), nn.ReLU())", "print(model)"),
        ("Network(4)", "pass"),
        ("Net()", "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
        ("Pair(left, nn.Linear(4, 2))", "pass"),
        ("nn.Sequential(left, nn.ReLU())", "model.add_module('head', left)"),
    ],
)
def test_it_is_moved_where_it_is_made(tmp_path: Path, made: str, before: str) -> None:
    assert f"    model = {made}.to(torch_xla.device())\n" in run(tmp_path, made, before)


@pytest.mark.parametrize(
    ("made", "before", "given", "after"),
    [
        ("Net().to(device)", "pass", "x", "pass"),
        ("Net()", "model.to(device)", "x", "pass"),
        ("Net()", "model = model.cuda() if torch.cuda.is_available() else model", "x", "pass"),
        ("Net()", "put(model)", "x", "pass"),
        ("Net()", "prepare(model)", "x", "pass"),  # whatever that does
        ("prepare(Net())", "pass", "x", "pass"),
        ("Net()", "for one in (model, nn.ReLU()):\n        one.to(device)", "x", "pass"),
        ("Net()", "models = [model]", "x", "pass"),
        ("Net()", 'torch.set_default_device("cuda")', "x", "pass"),
        ("nn.DataParallel(Net())", "pass", "x", "pass"),
        ("nn.Linear(4, 4, device=device)", "pass", "x", "pass"),
        ("Net()", "pass", "x.cpu()", "pass"),
        ("Net()", "model.cpu()", "x", "pass"),
        ("Net()", "pass", "x", "model(torch.ones(2, 4))"),
        ("unknown(4)", "pass", "x", "pass"),
        ("Pair(moved, left)", "pass", "x", "pass"),
        ("Pair(left, last=unseen)", "pass", "x", "pass"),
        ("Pair(left, nn.Linear(4, 2))", "left.cuda()", "x", "pass"),
        ("nn.Sequential(moved, nn.ReLU())", "pass", "x", "pass"),
        ("nn.Sequential(nn.Linear(4, 4).cuda(), nn.ReLU())", "pass", "x", "pass"),
        ("nn.Sequential(nn.Linear(4, 4, device=device))", "pass", "x", "pass"),
        ("nn.Sequential(*list(moved.children()))", "pass", "x", "pass"),
        ("nn.Sequential()", "model.add_module('first', moved)", "x", "pass"),
        ("torch.nn.utils.parametrizations.weight_norm(moved.layer)", "pass", "x", "pass"),
    ],
)
def test_it_stays_where_something_may_move_it(tmp_path: Path, made: str, before: str, given: str, after: str) -> None:
    assert f"    model = {made}\n" in run(tmp_path, made, before, given, after=after)


@pytest.mark.parametrize("move", [".cuda()", "\n        self.to(device)"])
def test_a_class_of_another_file_that_moves_itself(tmp_path: Path, move: str) -> None:
    assert "    model = Network(4)\n" in run(tmp_path, "Network(4)", move=move)


def test_processes_of_hosts_are_on_the_host(tmp_path: Path) -> None:
    """`gloo` and a device that is the CPU: nothing here is for an accelerator."""
    text = """
        import torch
        import torch.distributed as dist
        import torch.multiprocessing as mp

        def run(rank, world):
            dist.init_process_group("BACKEND", rank=rank, world_size=world)
            device = torch.device("cpu")
            model = torch.nn.Linear(4, 2).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(20):
                loss = model(torch.rand(8, 4).to(device)).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        if __name__ == "__main__":
            mp.spawn(run, args=(2,), nprocs=2)
        """
    agree(tmp_path, "TPU301", main=text.replace("BACKEND", "gloo"))
    agree(tmp_path, "TPU301", main=text.replace("BACKEND", "mpi").replace("range(20):", "range(20):  # TPU301"))


SPARSE = """\
    import torch

    def to_sparse(matrix):
        places = torch.stack((matrix.row, matrix.col))
        return torch.sparse_coo_tensor(places, matrix.values, matrix.shape)MARK
"""
USES_SPARSE = """\
    import torch
    from matrices import to_sparse

    matrix = to_sparse(read())
    model = MODEL
    print(torch.sparse.mm(matrix, model.weight))
"""


@pytest.mark.parametrize(
    ("model", "is_imported", "is_told"),
    [
        ("torch.nn.Linear(4, 4)", True, False),
        ("torch.nn.Linear(4, 4).cuda()", True, True),
        ("torch.nn.Linear(4, 4)", False, True),
    ],
)
def test_sparse_matrices_of_projects_without_a_device(
    tmp_path: Path, model: str, is_imported: bool, is_told: bool
) -> None:
    train = USES_SPARSE.replace("MODEL", model)
    if not is_imported:
        train = train.replace("from matrices import to_sparse", "from others import to_sparse")
    agree(tmp_path, "TPU007", train=train, matrices=SPARSE.replace("MARK", "  # TPU007" if is_told else ""))


@pytest.mark.parametrize(("used", "is_fixed"), [("torch.mm(matrix, x)", True), ("matrix._indices()[0]", False)])
def test_sparse_matrices_that_another_file_takes_apart(tmp_path: Path, used: str, is_fixed: bool) -> None:
    made = dedent(SPARSE.replace("MARK", "")) + "\nmatrix = to_sparse(read()).cuda()\n"
    (tmp_path / "matrices.py").write_text(made)
    (tmp_path / "layers.py").write_text(f"import torch\n\ndef spread(matrix, x):\n    return {used}\n")
    tpulint("check", "--select", "TPU007", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    assert (".to_dense()" in (tmp_path / "matrices.py").read_text()) is is_fixed


@pytest.mark.parametrize("model", ["torch.nn.Linear(4, 4)", "torch.nn.Linear(4, 4).cuda()"])
def test_sparse_matrices_of_programs_without_a_device(tmp_path: Path, model: str) -> None:
    made = dedent(SPARSE.replace("MARK", "  # TPU007" if "cuda" in model else ""))
    used = dedent(USES_SPARSE.replace("MODEL", model)).split("to_sparse\n", 1)[1]
    agree(tmp_path, "TPU007", train=made + used)


SHOWN = """\
import torch
from torch import nn

net = nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for x in torch.randn(8, 4, 8):
    optimizer.zero_grad()
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    total += loss.item()
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
USE
"""


@pytest.mark.parametrize(
    ("use", "is_shown"),
    [
        ("print(device)", True),
        ("print(f'on {device}', torch.cuda.device_count())", True),
        ("pass", True),
        ("net.to(device)", False),
        ("x = torch.ones(4, device=device)", False),
        ("train(net, device)", False),
        ("with device: x = torch.ones(4)", False),
        ("other = device", False),
        ("x = torch.cuda.FloatTensor(4)", False),
        ("# net.to(device): see DataParallel, and torch.set_default_device", True),
        ("torch.set_default_device(device)", False),
        ("dev = torch.device('cuda')\nother = library.Model(dev)", False),
        ("dev = torch.device('cuda')\nprint(dev)", True),
    ],
)
def test_a_loop_beside_a_device_that_is_only_shown(tmp_path: Path, use: str, is_shown: bool) -> None:
    """All that it trains is on the host, before and after the fix of the device."""
    (tmp_path / "main.py").write_text(SHOWN.replace("USE", use))
    for _ in range(2):
        tpulint("--fix", "--unsafe-fixes", "--select", "ALL", "main.py", cwd=tmp_path)
        text = (tmp_path / "main.py").read_text()
        assert ("torch_xla.sync()" not in text) is is_shown
        assert not is_shown or "    total += loss.item()\n" in text
        assert "device = torch_xla.device()" in text
