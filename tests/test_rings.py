"""Places in a ring: each of many is a graph of its own, those of few are compiled soon."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree


@pytest.mark.parametrize(
    ("place", "is_told"),
    [
        ("step % 1000", True),
        ("step % SIZE", True),
        ("step % 16", False),
        ("step % unknown", False),
        ("step // 9", False),
    ],
)
def test_places_in_a_ring(tmp_path: Path, place: str, is_told: bool) -> None:
    text = (
        SETUP
        + f"""
    SIZE = 512
    bank = torch.zeros(1000, 4, device=device)
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        out = model(x.to(device))
        F.mse_loss(out, y.to(device)).backward()
        optimizer.step()
        bank[{place}] = out[0].detach(){"  # TPU201" * is_told}
    """
    )
    agree(tmp_path, "TPU201", main=text)


def test_sizes_of_a_ring(tmp_path: Path) -> None:
    """By the tensor that is one, and by a number that an object keeps."""
    program = (
        SETUP
        + """
    class Bank:
        def __init__(self, size=4096):
            self.size = size
            self.rows = torch.zeros(size, 4, device=device)
            self.at = 0

        def push(self, row):
            self.rows[self.at % self.size] = row  # TPU201
            self.rows[self.at % len(self.rows)] = row  # TPU201
            self.at += 1

    class Few:
        def __init__(self, size):
            self.size = size
            self.rows = torch.zeros(size, 4, device=device)
            self.at = 0

        def push(self, row):
            self.rows[self.at % self.size] = row
            self.rows[self.at % len(self.rows)] = row
            self.at += 1

    bank, few = Bank(), Few(8)
    many, some = torch.zeros(1000, 4, device=device), torch.zeros(8, 4, device=device)
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        out = model(x.to(device))
        F.mse_loss(out, y.to(device)).backward()
        optimizer.step()
        bank.push(out[0].detach())
        few.push(out[0].detach())
        many[step % many.shape[0]] = out[0].detach()  # TPU201
        many[step % many.size(0)] = out[0].detach()  # TPU201
        many[step % many.shape[1]] = out[0].detach()
        some[step % len(some)] = out[0].detach()
    """
    )
    agree(tmp_path, "TPU201", main=program)
