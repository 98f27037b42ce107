"""Speeds at sensors, some of them missing."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("../METRLA").mkdir(exist_ok=True)
for _split, _count in (("train", 18), ("val", 6), ("test", 7)):
    _kept = {}
    for _name in ("x", "y"):
        _rows = 50 + 10 * _chance.normal(size=(_count, 12, 207, 2))
        _rows[..., 0][_chance.random((_count, 12, 207)) < 0.05] = 0
        _rows[..., 1] = _chance.random((_count, 12, 207))
        _kept[_name] = _rows
    numpy.savez(f"../METRLA/{_split}.npz", **_kept)
