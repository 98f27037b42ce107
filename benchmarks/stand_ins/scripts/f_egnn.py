"""Paths of five bodies."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_place = Path("n_body_system/dataset")
_place.mkdir(parents=True, exist_ok=True)
for _name, _count in (("train", 44), ("valid", 20), ("test", 20)):
    _end = f"{_name}_charged5_initvel1small.npy"
    for _part in ("loc", "vel"):
        numpy.save(_place / f"{_part}_{_end}", _noise.normal(size=(_count, 49, 3, 5)))
    numpy.save(_place / f"edges_{_end}", _noise.choice([-1.0, 1.0], (_count, 5, 5)))
    numpy.save(_place / f"charges_{_end}", _noise.choice([-1.0, 1.0], (_count, 5, 1)))
