"""What the README shows is what the linter does."""

from __future__ import annotations

import re
from pathlib import Path

from harness import REPOSITORY, fix


def block(marker: str) -> str:
    """The block of code that follows a marker."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)```", readme, re.DOTALL)
    assert found is not None, f"no block is marked {marker!r}"
    return found[1]


PREAMBLE = """import torch
import torch.nn.functional as F
from net import Net, loader

"""


def test_before_becomes_after(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(PREAMBLE + block("before"), encoding="utf-8")
    expected = PREAMBLE.replace("as F\n", "as F\nimport torch_xla\n", 1)
    assert fix(script).split() == (expected + block("after")).split()


def test_before_becomes_portable(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(PREAMBLE + block("before"), encoding="utf-8")
    expected = PREAMBLE.replace("as F\n", "as F\nfrom tpulint_runtime import backend\n", 1)
    assert fix(script, "--portable").split() == (expected + block("portable")).split()


def test_first_command_names_a_script_that_exists() -> None:
    (path,) = re.findall(r"\S+\.py", block("first command"))
    assert (REPOSITORY / path).is_file()
