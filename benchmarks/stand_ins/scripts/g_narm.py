"""Sessions of a shop."""

import pickle
from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_place = Path("datasets/diginetica")
_place.mkdir(parents=True, exist_ok=True)
for _name, _count in (("train", 110), ("test", 22)):
    _long = _noise.integers(2, 9, _count)
    _seen = [[int(one) for one in _noise.integers(1, 60, number)] for number in _long]
    _next = [int(one) for one in _noise.integers(1, 60, _count)]
    (_place / f"{_name}.txt").write_bytes(pickle.dumps((_seen, _next)))
