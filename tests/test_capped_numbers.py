"""Numbers that grow until they come to a bound, and places that are drawn for the turns of an inner loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

LOOP = """
    import random
    import numpy as np
    sizes = [4, 8]
    count = 0
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        x = x.to(device)
        F.mse_loss(model(x), y.to(device)).backward()
        optimizer.step()
        count += 1
    """


@pytest.mark.parametrize(
    ("number", "is_told"),
    [
        ("min(4 + step, 16)", True),
        ("min(16, int(2 * step))", True),
        ("min(count, 64)", True),
        ("max(4, 64 - step)", True),
        ("min(4, 64 - step)", False),  # another in the last turns only
        ("min(4 + step // 100, 16)", False),  # the same for many turns
        ("min(4 + 12, 16)", False),
        ("min(4 - 2 * step, 16)", False),
    ],
)
def test_numbers_that_come_to_a_bound(tmp_path: Path, number: str, is_told: bool) -> None:
    text = f"{SETUP}{LOOP}    n = {number}\n        part = x[:, :n]{'  # TPU201' * is_told}\n"
    agree(tmp_path, "TPU201", main=text)


@pytest.mark.parametrize(
    ("places", "is_told"),
    [
        ("random.sample(range(9), 3)", True),
        ("np.random.permutation(x.shape[1])[:3]", False),  # of a number of which nothing is known
        ("np.random.permutation(9)[:3]", True),
        ("np.random.choice(9, 3)", True),
        ("random.sample(list(range(9)), k=3)", True),
        ("random.sample(sizes, 1)", False),
        ("range(9)[:3]", False),
    ],
)
def test_drawn_places(tmp_path: Path, places: str, is_told: bool) -> None:
    mark = "  # TPU201" * is_told
    text = f"{SETUP}{LOOP}    for c in {places}:\n            x[:, c] = 0{mark}\n"
    agree(tmp_path, "TPU201", main=text)


def test_places_that_are_drawn_once(tmp_path: Path) -> None:
    text = f"{SETUP}\n    import random\n    places = random.sample(range(9), 3)" + LOOP
    agree(tmp_path, "TPU201", main=f"{text}    for c in places:\n            x[:, c] = 0\n")


@pytest.mark.parametrize(
    ("functions", "given", "is_told"),
    [
        ("[torch.sin, torch.cos, torch.tanh]", "x", True),
        ("[torch.sin, torch.cos]", "x", False),
        ("unknown", "x", False),
        ("[torch.sin, torch.cos, torch.tanh]", "y", False),  # of the host
    ],
)
def test_functions_that_are_drawn(tmp_path: Path, functions: str, given: str, is_told: bool) -> None:
    line = f"    other = random.choice({functions})({given}){'  # TPU206' * is_told}\n"
    agree(tmp_path, "TPU206", main=f"{SETUP}{LOOP}{line}")
