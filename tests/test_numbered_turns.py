"""Loops whose target is another number in every turn, whatever stands behind ``in``.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import SETUP, agree

LOOP = """\
    import random
    import numpy as np
    from tqdm import tqdm

    def numbered(rows):
        for at in range(0, len(rows), 10):
            yield at, len(rows)

    def paired(rows):
        for row in rows:
            yield row, 0

    data = torch.randn(200, 4).to(device)
    starts = range(0, 190, 10)
    listed = list(starts)
    both = range(0, 190, 10) if device else [0, 0]
    for TARGET in TURNS:
        x = data[at : at + 10]MARK
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


def _agree(folder: Path, target: str, turns: str, mark: str) -> None:
    text = dedent(SETUP) + dedent(LOOP).replace("TARGET", target).replace("TURNS", turns).replace("MARK", mark)
    agree(folder, "TPU201", main=text)


@pytest.mark.parametrize(
    ("target", "turns"),
    [
        ("at", "starts"),
        ("at", "listed"),
        ("at", "starts[:-1]"),
        ("at", "reversed(listed)"),
        ("step, at", "enumerate(starts[:-1])"),
        ("step, at", "enumerate(tqdm(listed))"),
        ("at", "np.random.permutation(190)"),
        ("at", "random.sample(listed, 10)"),
        ("at, _", "numbered(data)"),
    ],
)
def test_a_number_of_each_turn(tmp_path: Path, target: str, turns: str) -> None:
    _agree(tmp_path, target, turns, "  # TPU201")


@pytest.mark.parametrize(("target", "turns"), [("at", "both"), ("at", "[0] * 9"), ("_, at", "paired(data)")])
def test_what_may_be_the_same_in_every_turn(tmp_path: Path, target: str, turns: str) -> None:
    _agree(tmp_path, target, turns, "")
