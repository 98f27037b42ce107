"""Programs whose lines are marked with what must be said of them, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

from command import tpulint

SETUP = """\
    import torch
    from torch import nn
    import torch.nn.functional as F

    device = torch.device("cuda")
    model = nn.Linear(4, 4).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    """


def fill(text: str, **lines: str) -> str:
    """A program in which lines stand for these marks, each on a line of its own, as far in as the mark."""
    for name, inserted in lines.items():
        at = next(line for line in text.splitlines() if line.strip() == name)
        indent = at[: len(at) - len(name)]
        text = text.replace(at, "\n".join(indent + line for line in inserted.splitlines()))
    return text


def agree(folder: Path, select: str = "TPU101,TPU102,TPU103,TPU104,TPU105,TPU203,TPU220", **files: str) -> None:
    """Check that what is found is what the lines of these files are marked with."""
    expected = set()
    for name, text in files.items():
        text = dedent(text)
        (folder / f"{name}.py").write_text(text)
        for row, line in enumerate(text.splitlines(), 1):
            expected |= {
                f"{Path(name).name}.py:{row} {code}"
                for code in re.findall(r"# ((?:TPU\d+ ?)+)", line)
                for code in code.split()
            }
    answer = tpulint("--output-format=json", "--select", select, ".", cwd=folder)
    assert {
        f"{Path(entry['filename']).name}:{entry['location']['row']} {entry['code']}" for entry in json.loads(answer.out)
    } == expected
