"""Devices and backends that are chosen together, as pairs, and groups of gloo that hold models of the device."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint

STEP = """
model = DDP(nn.Linear(4, 2).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
    optimizer.step()
"""
HEAD = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
"""


def ported(folder: Path, **files: str) -> dict[str, str]:
    """The files behind ``--fix --unsafe-fixes``, which a second run leaves as they are."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=folder)
    texts = {name: (folder / f"{name}.py").read_text() for name in files}
    tpulint("--fix", "--unsafe-fixes", ".", cwd=folder)
    assert {name: (folder / f"{name}.py").read_text() for name in files} == texts
    return texts


CHOSEN = [
    'device, backend = ("cuda", "nccl") if torch.cuda.is_available() else ("cpu", "gloo")',
    'if torch.cuda.is_available():\n    device, backend = "cuda", "nccl"\nelse:\n    device, backend = "cpu", "gloo"',
    'def choose():\n    if torch.cuda.is_available():\n        return "cuda", "nccl"\n    return "cpu", "gloo"\n'
    "device, backend = choose()",
    'def choose():\n    return ("cuda", "nccl") if torch.cuda.is_available() else ("cpu", "gloo")\n'
    "device, backend = choose()",
    'cuda = torch.cuda.is_available()\nchosen = {"by": "nccl" if cuda else "gloo", "on": "cuda" if cuda else "cpu"}\n'
    'device, backend = chosen["on"], chosen["by"]',
]


@pytest.mark.parametrize("chosen", CHOSEN, ids=["choice", "branches", "returned", "chosen and returned", "dictionary"])
def test_a_device_and_the_backend_beside_it(tmp_path: Path, chosen: str) -> None:
    text = ported(tmp_path, train=f"{HEAD}{chosen}\ndist.init_process_group(backend)\n{STEP}")["train"]
    assert "cuda" not in text and "nccl" not in text and "gloo" not in text
    assert 'init_method="xla://")' in text


def test_what_a_dictionary_is_told_later_is_not_known(tmp_path: Path) -> None:
    lines = 'chosen = {"by": "nccl"}\nchosen["by"] = "mpi"\ndist.init_process_group(chosen["by"])\n'
    assert lines in ported(tmp_path, train=f"{HEAD}{lines}")["train"]


def test_a_device_that_another_file_returns_beside_a_number(tmp_path: Path) -> None:
    choosing = """\
        import torch
        def choose():
            if torch.cuda.is_available():
                return "cuda", 4
            return "cpu", 0
        def names():
            return "cuda", "cpu"
    """
    training = f"{HEAD}from choosing import choose, names\ndevice, workers = choose()\nprint(names())\n{STEP}"
    texts = ported(tmp_path, choosing=dedent(choosing), train=training)
    assert '    return "xla", 4\n' in texts["choosing"] and '    return "cuda", "cpu"\n' in texts["choosing"]


@pytest.mark.parametrize(
    ("backend", "wrapped", "is_joined"),
    [
        ('"gloo"', 'nn.Linear(4, 2).to("cuda")', True),
        ('"gloo"', "nn.Linear(4, 2).cuda(), device_ids=[0]", True),
        ('backend="gloo", rank=rank, world_size=world_size', "nn.Linear(4, 2).to(rank), device_ids=[rank]", True),
        ('"gloo"', "nn.Linear(4, 2)", False),
        ('"gloo"', 'nn.Linear(4, 2).to("cpu"), device_ids=None', False),
        ('"mpi"', 'nn.Linear(4, 2).to("cuda")', False),
        ('"gloo", store=store', 'nn.Linear(4, 2).to("cuda")', False),
    ],
)
def test_a_group_of_gloo_that_holds_a_model_of_the_device(
    tmp_path: Path, backend: str, wrapped: str, is_joined: bool
) -> None:
    """Gloo has tensors of GPUs as well as those of the CPU, and raises for one of XLA."""
    text = ported(tmp_path, train=f"{HEAD}dist.init_process_group({backend})\nmodel = DDP({wrapped})\n")["train"]
    assert ('"xla", init_method="xla://")' in text) is is_joined


def test_a_group_of_gloo_that_another_file_joins(tmp_path: Path) -> None:
    joining = "import torch.distributed as dist\ndef join():\n    dist.init_process_group('gloo')\n"
    body = indent(STEP, "    ")
    program = f"{HEAD}from joining import join\ndef main(device):\n{body}\njoin()\nmain(torch.device('cuda'))\n"
    texts = ported(tmp_path, joining=joining, train=program)
    assert "init_process_group('xla', init_method=\"xla://\")" in texts["joining"]


def test_a_group_of_gloo_beside_that_of_xla(tmp_path: Path) -> None:
    lines = 'if backend == "xla":\n    import torch_xla\ndist.init_process_group("gloo")\n'
    text = f'{HEAD}{lines}model = DDP(nn.Linear(4, 2).to("xla"))\n'
    assert lines in ported(tmp_path, train=text)["train"]
