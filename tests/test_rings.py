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
