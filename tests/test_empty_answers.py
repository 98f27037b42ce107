"""What the shell gives of a program that is not there, and what raises when it is taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

ASKED = "os.popen('nvidia-smi --query-gpu=memory.total,memory.used --format=csv,noheader')"
INTO_FILE = "os.system('nvidia-smi -q -d Memory | grep Free > free.txt')"


def program(*lines: str) -> str:
    model = ["net = torch.nn.Linear(2, 2).to('xla')", "if __name__ == '__main__':", "    print(net)"]
    return "\n".join(["import os", "import numpy as np", "import torch", *lines, *model])


@pytest.mark.parametrize(
    "lines",
    [
        (f"total, used = {ASKED}.read().split('\\n')[0].split(',')",),
        (f"total, used = {ASKED}.read().strip().split(',')",),
        (f"first = {ASKED}.readlines()[0]",),
        (f"first = {ASKED}.read().split()[0]",),
        (f"second = {ASKED}.read().split('\\n')[1]",),
        (f"free = int({ASKED}.read())",),
        (f"free = [int(line) for line in {ASKED}.read().strip().split('\\n')]",),
        (f"lines = {ASKED}.readlines()", "best = np.argmax([int(line.split()[2]) for line in lines])"),
        (f"lines = {ASKED}.read().split('\\n')[1:]", "best = max(int(line) for line in lines)"),
        (f"text = {ASKED}.read()", "print(text)", "for line in text.split('\\n'):", "    free = int(line)"),
        (f"free = list({ASKED})", "print(free)", "best = free[0]"),
    ],
)  # fmt: skip
def test_an_empty_answer_is_taken_apart(
    lines: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is told, so it runs."""
    first, *rest = lines
    agree(tmp_path, "TPU926", main=program(f"{first}  # TPU926", *rest))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises((ValueError, IndexError)):
        exec("import os\nimport numpy as np\n" + "\n".join(lines), {})


@pytest.mark.parametrize(
    "lines",
    [
        (f"print({ASKED}.read())",),
        (f"lines = {ASKED}.readlines()[:2]",),
        (f"first = {ASKED}.read().split('\\n')[0]",),
        (f"free = [int(line) for line in {ASKED}.readlines()]",),
        (f"free = [int(line) for line in {ASKED}.read().split('\\n') if line]",),
        (f"lines = {ASKED}.readlines()", "lines = lines or ['0']", "first = lines[0]"),
        (f"for line in {ASKED}.readlines():", "    free = int(line)"),
        ("count = int(os.popen('nvidia-smi -L 2> /dev/null | wc -l').read())",),
        ("free = int(os.popen('nvidia-smi -L 2> /dev/null || echo 3').read())",),
        ("free = int(os.popen('echo 3').read())",),
    ],
)  # fmt: skip
def test_an_empty_answer_that_nobody_misses(
    lines: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agree(tmp_path, "TPU926", main=program(*lines))
    if "wc" not in lines[0]:  # which is no part of the shell
        monkeypatch.setenv("PATH", str(tmp_path))
    exec("import os\nimport numpy as np\n" + "\n".join(lines), {})


@pytest.mark.parametrize(
    ("command", "opened", "mark"),
    [
        (INTO_FILE, "free.txt", "  # TPU926"),
        (INTO_FILE, "other.txt", ""),
        (INTO_FILE.replace(" > ", " >> "), "free.txt", ""),
        (INTO_FILE.replace("nvidia-smi", "free"), "free.txt", ""),
    ],
)
def test_an_answer_that_goes_through_a_file(tmp_path: Path, command: str, opened: str, mark: str) -> None:
    read = f"free = [int(x.split()[2]) for x in open('{opened}', 'r').readlines()]"
    agree(tmp_path, "TPU926", main=program(f"{command}{mark}", read, "device = torch.device(int(np.argmax(free)))"))


@pytest.mark.parametrize(
    ("call", "mark"),
    [
        ("choose()", "  # TPU926"),
        ("print(choose)", ""),
        ("if torch.cuda.is_available():\n    choose()", ""),
        ("try:\n    choose()\nexcept ValueError:\n    pass", ""),
    ],
)
def test_functions_that_ask_are_run(tmp_path: Path, call: str, mark: str) -> None:
    lines = [f"    lines = {ASKED}.readlines(){mark}", "    return max(int(line) for line in lines)"]
    agree(tmp_path, "TPU926", main=program("def choose():", *lines, *call.split("\n")))


def test_what_raises_is_caught(tmp_path: Path) -> None:
    lines = [f"lines = {ASKED}.readlines()", "try:", "    best = lines[0]", "except IndexError:", "    best = None"]
    agree(tmp_path, "TPU926", main=program(*lines))
