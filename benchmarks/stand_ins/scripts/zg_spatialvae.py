"""Turned numbers."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("data/mnist_rotated").mkdir(parents=True, exist_ok=True)
for _part, _count in (("train", 22), ("test", 14)):
    numpy.save(f"data/mnist_rotated/images_{_part}.npy", _chance.integers(0, 256, (_count, 28, 28)).astype("uint8"))
