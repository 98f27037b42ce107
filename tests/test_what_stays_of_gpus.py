"""What is left of the choice of a GPU in a file whose device has become another: numbers, lists, guards, messages."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint

TRAINING = """
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    optimizer.zero_grad()
    model(x.to(device)).mean().backward()
    optimizer.step()
"""


def ported(folder: Path, text: str, behind: str = TRAINING) -> str:
    """A script that trains on the device that a text chooses, after all fixes."""
    path = folder / "train.py"
    path.write_text("import torch\nfrom torch import nn\n\n" + dedent(text) + behind)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=folder)
    return path.read_text()


@pytest.mark.parametrize("number", ["args.local_rank", "index=args.local_rank", "0"])
def test_the_number_beside_a_choice_goes(tmp_path: Path, number: str) -> None:
    choice = '"cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu"'
    after = ported(tmp_path, f"device = torch.device({choice}, {number})\n")
    assert 'device = torch.device("xla" if not args.no_cuda else "cpu")\n' in after


def test_the_number_beside_two_names_goes_once(tmp_path: Path) -> None:
    after = ported(tmp_path, 'device = torch.device("cuda" if a else "cuda" if b else "cpu", rank)\n')
    assert 'device = torch.device("xla" if a else "xla" if b else "cpu")\n' in after


def test_a_list_of_devices_that_gets_a_gpu(tmp_path: Path) -> None:
    given = """\
    DEVICES = ["cpu"]
    if torch.cuda.is_available():
        DEVICES.append("cuda")
    words = ["cpu"]
    words.append("cuda")
    device = torch.device(DEVICES[-1])
    """
    after = ported(tmp_path, given)
    assert '\nDEVICES.append("xla")\n' in after
    assert '\nwords.append("cuda")\n' in after


@pytest.mark.parametrize(("key", "stays"), [('config["no_cuda"]', False), ("config[name]", True), ("ask()", True)])
def test_a_guard_of_nothing_goes_where_asking_changes_nothing(tmp_path: Path, key: str, stays: bool) -> None:
    given = f"""\
    device = torch.device("cuda")
    if not {key}:
        torch.cuda.set_device(gpu)
    print({key})
    """
    assert (f"if not {key}:" in ported(tmp_path, given)) is stays


def test_an_item_that_is_asked_for_once_may_be_missing(tmp_path: Path) -> None:
    given = """\
    device = torch.device("cuda")
    if not config["no_cuda"]:
        torch.cuda.set_device(gpu)
    """
    assert 'if not config["no_cuda"]:\n    pass\n' in ported(tmp_path, given)


@pytest.mark.parametrize(
    "guard",
    ["if torch.cuda.is_available() and not args.cuda:", "if torch.cuda.is_available():\n    if not args.cuda:"],
)
def test_a_message_about_a_gpu_keeps_the_question(tmp_path: Path, guard: str) -> None:
    within = " " * (4 * guard.count("if "))
    said = f'{guard}\n{within}print("WARNING: You have a CUDA device, run with --cuda")\n'
    after = ported(tmp_path, said + 'device = torch.device("cuda" if args.cuda else "cpu")\n')
    assert said in after
    assert 'device = torch.device("xla" if args.cuda else "cpu")\n' in after
