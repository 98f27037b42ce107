"""Sessions of a shop, and which items stand beside each other."""

import pickle
from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_place = Path("datasets/made")
_place.mkdir(parents=True, exist_ok=True)
for _name, _count in (("train", 44), ("test", 12)):
    _seen = [[int(one) for one in _noise.integers(1, 310, number)] for number in _noise.integers(2, 7, _count)]
    _next = [int(one) for one in _noise.integers(1, 310, _count)]
    (_place / f"{_name}.txt").write_bytes(pickle.dumps((_seen, _next)))
for _name, _high in (("adj", 310), ("num", 9)):
    _beside = [[int(one) for one in _noise.integers(1, _high, 3)] for _ in range(310)]
    (_place / f"{_name}_12.pkl").write_bytes(pickle.dumps(_beside))
