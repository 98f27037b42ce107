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
    rate = 0.5
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
        ("min(4 + int(step / 100), 16)", False),
        ("min(4 + step / rate, 16)", True),
        ("min(4 + step / -9, 16)", False),
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


LOSS = """\
    import torch

    class Decay:
        def __init__(self, length, rate):
            self.length = length
            self.rate = rate

        def __call__(self, count):
            if {warmup}:
                return 20
            return 2 + 18 * max(0.0, 1 - {gone})

    class Loss:
        def __init__(self, layer):
            self.layer = layer
            self.decay = Decay(20000, 0.5)
            self.count = 0

        def __call__(self, out, y):
            self.count += 1
            power = self.decay(self.count)
            return (out - y).square().mean() + self.layer.weight.abs().pow(power).sum(){mark}
    """


@pytest.mark.parametrize(
    ("warmup", "gone", "is_told"),
    [
        ("count < self.length / 5", "count / self.length", True),
        ("count < 10", "(count - 10) / (self.length - 10)", True),
        ("count == 10", "count / self.length", False),
        ("count < 10", "self.rate / self.length", False),
        ("count < 10", "count // self.length", False),
    ],
)
def test_an_exponent_that_another_object_computes_of_a_count(
    tmp_path: Path, warmup: str, gone: str, is_told: bool
) -> None:
    loss = LOSS.format(warmup=warmup, gone=gone, mark="  # TPU207" * is_told)
    program = f"""{SETUP}
    from loss import Loss

    criterion = Loss(model)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU207", loss=loss, main=program)
