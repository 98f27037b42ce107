"""Grids of 8 by 8 with a goal, places in them and the next move."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("trained").mkdir(exist_ok=True)
_arrays = []
for _count in (76, 40):
    _arrays += [_chance.integers(0, 2, (_count, 2, 8, 8))]
    _arrays += [_chance.integers(0, 8, _count) for _ in range(3)]
numpy.savez("dataset/gridworld_8x8.npz", *_arrays)
