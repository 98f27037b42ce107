"""Lists with an element for each GPU, of which a port takes that of its one device."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import agree

HEAD = "import torch\nimport torch_xla.runtime as xr\nparts = []\n"
TAIL = "model = torch.nn.Linear(2, 2).to('xla')\nif __name__ == '__main__':\n    print(model)\n"
FILLED = "for i in range(torch.cuda.device_count()):{}\n    parts.append(torch.zeros(4))\n"
MADE = "parts = [torch.zeros(4) for i in range(torch.cuda.device_count())]{}\n"
TAKEN = "print(parts[torch.cuda.current_device()])\n"


@pytest.mark.parametrize("filled", [FILLED, MADE])
@pytest.mark.parametrize(
    "taken",
    [TAKEN, "i = torch.cuda.current_device()\nprint(parts[i])\n", "print(parts[xr.local_ordinal()])\n"],
)
def test_the_element_of_the_current_device(tmp_path: Path, filled: str, taken: str) -> None:
    agree(tmp_path, "TPU605", main=HEAD + filled.format("  # TPU605") + taken + TAIL)


@pytest.mark.parametrize(
    "code",
    [
        FILLED + "print(parts)\n",
        FILLED + "print(parts[0], parts[number()])\n",
        FILLED + "for i, part in enumerate(parts):\n    parts[i] = part + 1\n",
        FILLED + "other = [1]\nprint(other[torch.cuda.current_device()])\n",
        "for i in range(torch.cuda.device_count()):\n    print(torch.cuda.get_device_name(i))\n" + TAKEN,
        "for i in range(4):\n    parts.append(torch.zeros(4))\n" + TAKEN,
        "if torch.cuda.device_count() > 1:\n" + "".join(f"    {row}\n" for row in (FILLED + TAKEN).splitlines()),
    ],
)
def test_elements_that_are_chosen_otherwise(tmp_path: Path, code: str) -> None:
    agree(tmp_path, "TPU605", main=HEAD + code.format("") + TAIL)


@pytest.mark.parametrize(
    ("taken", "written"),
    [
        ("print(parts[torch.cuda.current_device()])", "print(parts[xr.local_ordinal()])"),
        ("i = torch.cuda.current_device()\nprint(parts[i])", "i = xr.local_ordinal()\nprint(parts[i])"),
        ("i = torch.cuda.current_device()\nprint(parts[i], i)", "i = torch_xla.device()"),
        ("print({torch.cuda.current_device(): 1})", "print({torch_xla.device(): 1})"),
    ],
)
def test_an_index_is_a_number(tmp_path: Path, taken: str, written: str) -> None:
    (tmp_path / "main.py").write_text(f"{HEAD}{taken}\n{TAIL}")
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU010", ".", cwd=tmp_path)
    assert written in (tmp_path / "main.py").read_text()


def test_as_many_elements_as_processes(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(HEAD + FILLED.format("") + TAKEN + TAIL)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU605,TPU010", ".", cwd=tmp_path)
    text = (tmp_path / "main.py").read_text()
    assert "for i in range(xr.local_process_count()):\n" in text
    assert "print(parts[xr.local_ordinal()])\n" in text
