"""Devices that a class gives names to: ``class Device(str, Enum): CUDA = "cuda"``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import tpulint

ENUM = """\
from enum import Enum

import torch


class Device(BASES):
    CPU = "cpu"
    CUDA = "cuda"


"""
CHOICE = """\
def choose():
    device = Device.CPU
    if torch.cuda.is_available():
        device = Device.CUDA
    return device
"""
MOVE = "\n\nmodel = torch.nn.Linear(4, 1).to(choose())\n"
MEMBER = '    CUDA = "cuda"'
NAMED_THERE = "The device is named in another file"


def fixed(folder: Path, *, unsafe: bool = True, **files: str) -> dict[str, str]:
    """The texts of the files once the fixes were made, which a second run leaves."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    texts: dict[str, str] = {}
    for _ in range(2):
        before = texts
        tpulint("--fix", *(["--unsafe-fixes"] if unsafe else []), "--no-cache", cwd=folder)
        texts = {name: (folder / f"{name}.py").read_text() for name in files}
    assert texts == before
    return texts


def helps(folder: Path) -> list[tuple[str, bool]]:
    """What the findings about the choice of a device tell to do, and whether they have a fix."""
    answer = tpulint("--output-format=json", "--select", "TPU001", "--no-cache", ".", cwd=folder)
    return [(entry["help"] or "", entry["fix"] is not None) for entry in json.loads(answer.out)]


@pytest.mark.parametrize("bases", ["str, Enum", "Enum", "object"])
@pytest.mark.parametrize(
    "choice",
    [
        CHOICE,
        "def choose():\n    return Device.CUDA if torch.cuda.is_available() else Device.CPU\n",
        "def choose():\n    return torch.device((Device.CUDA if torch.cuda.is_available() else Device.CPU).value)\n",
    ],
)
def test_a_member_that_is_chosen_names_the_xla_device(tmp_path: Path, bases: str, choice: str) -> None:
    text = ENUM.replace("BASES", bases) + choice + MOVE
    assert fixed(tmp_path, unsafe=False, main=text)["main"] == text
    ported = fixed(tmp_path, main=text)["main"]
    assert '    CUDA = "xla"' in ported and "is_available" not in ported and "import torch_xla" in ported


@pytest.mark.parametrize(
    "use",
    [
        "backend = Device.CUDA\nprint(backend)\n",  # no device
        "mode = Device.CUDA.value\nprint(mode)\n",
        "device = Other.CUDA\nprint(device)\n",  # of another class
    ],
)
def test_a_member_that_is_no_device_of_the_file_stays(tmp_path: Path, use: str) -> None:
    other = 'class Other(Enum):\n    CUDA = "one"\n\n\n'
    text = ENUM.replace("BASES", "str, Enum") + other + use
    assert fixed(tmp_path, main=text)["main"] == text


def test_a_class_that_has_a_name_for_xla_stays(tmp_path: Path) -> None:
    text = (ENUM.replace("BASES", "str, Enum") + CHOICE + MOVE).replace(MEMBER, f'{MEMBER}\n    XLA = "xla"')
    assert MEMBER in fixed(tmp_path, main=text)["main"]


TRAIN = "import torch\n\nfrom devices import Device\n\n"
TAKEN = """\
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(8, 4).to(device)).mean().backward()
optimizer.step()
"""
IF = "device = Device.CPU\nif torch.cuda.is_available():\n    device = Device.CUDA\n"


@pytest.mark.parametrize(
    "choice",
    [
        IF,
        "device = Device.CUDA if torch.cuda.is_available() else Device.CPU\n",
        "device = (Device.CUDA if torch.cuda.is_available() else Device.CPU).value\n",
        "has_gpu = torch.cuda.is_available()\ndevice = Device.CUDA if has_gpu else Device.CPU\n",
        "device = Device.CPU if not torch.cuda.is_available() else Device.CUDA\n",
        "def choose():\n    if not torch.cuda.is_available():\n        return Device.CPU\n    return Device.CUDA\n\n\n"
        "device = choose()\n",
    ],
)
def test_a_question_stays_while_another_file_names_the_gpu(tmp_path: Path, choice: str) -> None:
    """Answered with yes, the program asked for a GPU where it had trained on the host."""
    files = {"devices": ENUM.replace("BASES", "str, Enum"), "main": TRAIN + choice + TAKEN}
    assert fixed(tmp_path, **files) == files
    assert [(told.startswith(NAMED_THERE), has_fix) for told, has_fix in helps(tmp_path)] == [(True, False)]


def test_a_question_stays_whose_device_a_library_names(tmp_path: Path) -> None:
    main = (TRAIN + IF + TAKEN).replace("from devices", "from a_library.devices")
    assert fixed(tmp_path, main=main)["main"] == main


@pytest.mark.parametrize("member", ['CUDA = "xla"', "CUDA = auto()"])
def test_a_question_is_answered_where_the_other_file_names_no_gpu(tmp_path: Path, member: str) -> None:
    devices = ENUM.replace("BASES", "Enum").replace('CUDA = "cuda"', member).replace("Enum\n", "Enum, auto\n", 1)
    assert "is_available" not in fixed(tmp_path, devices=devices, main=TRAIN + IF + TAKEN)["main"]
