"""Features that a program leaves out where there is no CUDA, and says so."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CODE = """\
import torch
import torch_xla
from kernels import net, convert

device = "cuda"
net.to(device)
if device {asked} "cuda":
    {first}
else:
    {second}
"""
CONVERT, SAYS = "convert(net)", 'print("fp8 requires CUDA, ignored")'


@pytest.mark.parametrize(
    ("asked", "first", "second", "is_renamed"),
    [
        ("!=", SAYS, CONVERT, False),
        ("==", CONVERT, 'log.warning(f"{net} is supported on CUDA only")', False),
        ("!=", 'print("on the host")', CONVERT, True),
        ("!=", 'raise ValueError("fp8 requires CUDA")', CONVERT, True),
        ("!=", f"{SAYS}; convert(1)", CONVERT, False),
        ("!=", f"{SAYS}; kind = 1", CONVERT, True),
    ],
)
def test_branches_that_say_what_is_left_out(asked: str, first: str, second: str, is_renamed: bool) -> None:
    text = CODE.format(asked=asked, first=first, second=second)
    settings = Settings(select=("TPU001",), fix=True, unsafe_fixes=True)
    fixed = lint(SourceFile.from_text(text, "train.py"), settings, load()).text
    assert 'device = "xla"' in fixed
    assert (f'if device {asked} "xla":' in fixed) is is_renamed
    assert (f'if device {asked} "cuda":' in fixed) is not is_renamed


BOOSTED = """\
import torch

config = {{}}
if torch.cuda.is_available():
    {setting}
net = torch.nn.Linear(4, 4).to("cuda" if torch.cuda.is_available() else "cpu")
print(config, net)
"""


@pytest.mark.parametrize(
    ("setting", "is_kept"),
    [
        ('config["tree_method"] = "gpu_hist"; config["gpu_id"] = 0', True),
        ('config["model"]["task_type"] = "GPU"', True),
        ('config["task_type"] = "classification"', False),
        ('config["verbose"] = None', False),
        ('config["task_type"] = "GPU"; config["device"] = torch.device("cuda")', False),
    ],
)
def test_trees_of_another_library_ask_for_a_gpu(setting: str, is_kept: bool) -> None:
    text = BOOSTED.format(setting=setting)
    settings = Settings(select=("TPU001",), fix=True, unsafe_fixes=True)
    fixed = lint(SourceFile.from_text(text, "train.py"), settings, load()).text
    assert ("if torch.cuda.is_available():" in fixed) is is_kept
    assert "xla" in fixed


@pytest.mark.parametrize(
    ("name", "is_device"),
    [
        ('getattr(x, ("cpu", "cuda")[x.is_cuda])()', False),
        ('getattr(x, "cuda" if big else "cpu")()', False),
        ('x.to(("cpu", "cuda")[big])', True),
        ('x.to(getattr(options, "device", "cuda"))', True),
    ],
)
def test_names_of_methods_are_no_devices(name: str, is_device: bool) -> None:
    text = f"import torch\n\n\ndef place(x, big, options):\n    return {name}\n"
    fixed = lint(SourceFile.from_text(text), Settings(select=("TPU001",), fix=True, unsafe_fixes=True), load()).text
    assert ('"cuda"' not in fixed) is is_device
