"""Particles on springs, and which of them are joined."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
for _split, _count, _steps in (("train", 22, 9), ("valid", 9, 9), ("test", 9, 18)):
    for _name in ("loc", "vel"):
        _rows = _chance.normal(size=(_count, _steps, 2, 4)).cumsum(axis=1)
        numpy.save(f"data/{_name}_{_split}_springs4.npy", _rows)
    numpy.save(f"data/edges_{_split}_springs4.npy", _chance.integers(0, 2, (_count, 4, 4)).astype("float32"))
