"""Collate functions that bring each batch to a size they draw."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

LOOP = """
    loader = torch.utils.data.DataLoader(samples, batch_size=8, collate_fn=collate, drop_last=True)
    for x in loader:
        optimizer.zero_grad()
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    ("drawn", "resized", "is_told"),
    [
        ("random.choice([320, 352])", "F.interpolate(images, size)", True),
        ("random.randint(10, 19) * 32", "F.interpolate(images, size=(size, size))", True),
        ("np.random.choice(sizes)", "resize(images, size)", True),
        ("352", "F.interpolate(images, size)", False),
        ("once", "F.interpolate(images, size)", False),
        ("random.choice([320, 352])", "F.pad(F.interpolate(images, size), (0, 416 - size))", False),
        ("random.choice([320, 352])", "F.interpolate(images, 416) * size", False),
    ],
)
def test_what_is_drawn(tmp_path: Path, drawn: str, resized: str, is_told: bool) -> None:
    helper = "resize(" in resized
    program = (
        SETUP
        + f"""
    import random
    import numpy as np

    once = random.choice([320, 352])

    def resize(images, size):
        return F.interpolate(images, size=size){"  # TPU202" * (is_told and helper)}

    def collate(samples):
        images = torch.stack(samples)
        size = {drawn}
        return {resized}{"  # TPU202" * (is_told and not helper)}
    """
        + LOOP
    )
    agree(tmp_path, "TPU202", main=program)


@pytest.mark.parametrize(("method", "is_told"), [("collate_fn", True), ("__init__", False)])
def test_a_size_that_the_data_set_of_another_file_keeps(tmp_path: Path, method: str, is_told: bool) -> None:
    drawn = "self.size = random.choice([320, 352])"
    data = f"""
    import random
    import torch
    import torch.nn.functional as F

    class Images(torch.utils.data.Dataset):
        def __init__(self, names):
            self.names = names
            {drawn if method == "__init__" else "self.size = 320"}

        def collate_fn(self, batch):
            {drawn if method == "collate_fn" else "pass"}
            return torch.stack([F.interpolate(x, size=self.size) for x in batch]){"  # TPU202" * is_told}
    """
    loop = LOOP.replace("samples,", "images,").replace("=collate", "=images.collate_fn")
    program = SETUP + "\n    from data import Images\n\n    images = Images(names)\n" + loop
    agree(tmp_path, "TPU202", main=program, data=data)
