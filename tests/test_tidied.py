"""What fixes leave of statements that they took the contents of: it goes with them, where it does nothing more."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
SETTINGS = Settings(preview=True, fix=True, unsafe_fixes=True)


def ported(text: str) -> str:
    """The text once all fixes were made."""
    result = lint(SourceFile.from_text(dedent(text), "train.py"), SETTINGS, CATALOGUE)
    assert not result.error
    return result.text


TRIED = """\
import os
import torch
import torch.distributed as dist

try:
    # one device for each process
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]
{handled}
dist.init_process_group(backend="nccl", world_size=2, rank=0)
model = torch.nn.Linear(3, 4).cuda()
"""


@pytest.mark.parametrize(
    ("handled", "stays"),
    [
        ("except Exception:\n    pass", False),
        ("except KeyError as error:\n    print(error)\nexcept ValueError:\n    raise", False),
        ("except KeyError:\n    pass\nelse:\n    print(1)", True),
        ("except KeyError:\n    pass\nfinally:\n    print(1)", True),
        ("    print(1)\nexcept KeyError:\n    pass", True),
    ],
)
def test_a_try_of_which_nothing_is_left(handled: str, stays: bool) -> None:
    text = ported(TRIED.format(handled=handled))
    assert "CUDA_VISIBLE_DEVICES" not in text
    assert ("try:" in text) is stays and ("one device" in text) is stays


def test_a_try_whose_author_tries_nothing() -> None:
    own = "try:\n    pass\nexcept KeyError:\n    pass\n"
    text = ported(TRIED.format(handled="except Exception:\n    pass") + own)
    assert text.count("try:") == 1 and text.endswith(own)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'device = (\n    "cuda"\n    if torch.cuda.is_available()\n    else "cpu"\n)\n',
            'device = "xla"\n',
        ),
        (
            'device = (\n    torch.device("cuda") if torch.cuda.is_available()\n    else torch.device("cpu")\n)\n',
            "device = torch_xla.device()\n",
        ),
        ('device = (\n    "cuda"\n)\n', 'device = (\n    "xla"\n)\n'),  # as its author wrote it
        (
            'device = (  # the GPU\n    "cuda"\n    if torch.cuda.is_available()\n    else "cpu"\n)\n',
            'device = (  # the GPU\n    "xla"\n)\n',
        ),
        (
            'device = ("cuda" if torch.cuda.is_available() else "cpu")\n',
            'device = ("xla")\n',
        ),
    ],
)
def test_parentheses_round_a_choice_that_is_made(before: str, after: str) -> None:
    text = ported(f"import torch\n\n{before}x = torch.ones(3).to(device)\n")
    assert f"\n{after}x = torch.ones(3).to(device)\n" in text


def test_parentheses_round_what_a_function_returns() -> None:
    choice = 'return (\n        "cuda"\n        if torch.cuda.is_available()\n        else "cpu"\n    )\n'
    text = ported(f"import torch\n\n\ndef device():\n    {choice}\n\nx = torch.ones(3).to(device())\n")
    assert 'def device():\n    return "xla"\n' in text


COMPILED = """\
import torch

model = torch.nn.Linear(3, 4).cuda()
if {test}:
    {told}
    model = torch.compile(model)
    {behind}
model(torch.ones(2, 3).cuda()).sum().backward()
"""


@pytest.mark.parametrize(
    ("test", "told", "behind", "stays"),
    [
        ("fast", 'print("compiling the model... (takes a minute)")', "unoptimized = model", False),
        ("fast", 'print("Compiling")', 'print("Model compiled.")', False),
        ("fast", 'print("Compiling")', 'print("what else")', True),
        ("fast", 'print("Compiling", count())', 'print("Model compiled.")', True),
        ("fast()", 'print("Compiling")', 'print("Model compiled.")', True),
        ("fast", "plain = model", "plain.eval()", True),
    ],
)
def test_messages_about_what_is_not_compiled(test: str, told: str, behind: str, stays: bool) -> None:
    text = ported(COMPILED.format(test=test, told=told, behind=behind))
    assert "torch.compile" not in text
    assert (f"if {test}:" in text) is stays
