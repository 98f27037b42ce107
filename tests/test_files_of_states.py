"""Files that write and load the states of modules which another file keeps on the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

KEEPER = """
    import torch

    class Keeper:
        def __init__(self, **parts):
            self.parts = parts

        def save(self, path):
            states = {}
            for name, part in self.parts.items():
                states[name] = part.state_dict()
            torch.save(states, path)WRITTEN

        def load(self, path):
            loaded = torch.load(path)MARK
            for name, part in self.parts.items():
                part.load_state_dict(loaded[name])
"""
TRAIN = """
    import torch
    from keeper import Keeper

    net = torch.nn.Linear(4, 1).to(DEVICE)
    keeper = Keeper(net=net)
    keeper.load("net.pt")
    for step in range(10):
        net(torch.randn(8, 4).to(DEVICE)).mean().backward()
    keeper.save("net.pt")
"""


@pytest.mark.parametrize(("device", "is_told"), [('"cuda"', True), ('"cpu"', False)])
def test_states_of_modules_of_another_file(tmp_path: Path, device: str, is_told: bool) -> None:
    keeper = KEEPER.replace("MARK", "  # TPU701" * is_told).replace("WRITTEN", "  # TPU703" * is_told)
    agree(tmp_path, "TPU301,TPU701,TPU703", keeper=keeper, train=TRAIN.replace("DEVICE", device))
