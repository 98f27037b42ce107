"""Loops over layers that a function makes and leaves on the host: nothing of them is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("nn.Linear(x.shape[-1], 8)", False),
        ("nn.Conv2d(3, 8, 1)", False),
        ("nn.Linear(8, 8, device=device)", True),
        ("nn.DataParallel(model)", True),
        ("nn.Softmax(dim=1)", True),  # computes where its input is
    ],
)
def test_a_layer_that_is_made_in_the_turn(tmp_path: Path, made: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    def pick(store, count):
        found = []
        for _ in range(count):{"  # TPU302" * is_told}
            x = store[torch.randperm(64)]
            layer = {made}
            with torch.no_grad():
                found.append(layer(x))
        return found
    """
    )
    agree(tmp_path, "TPU302", main=program)
