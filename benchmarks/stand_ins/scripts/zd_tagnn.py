"""Sessions of clicks on 309 items, of several lengths."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("../datasets/sample")
_folder.mkdir(parents=True, exist_ok=True)
for _part, _count in (("train", 80), ("test", 40)):
    _clicks = [_chance.integers(1, 310, _chance.integers(1, 9)).tolist() for _ in range(_count)]
    _next = _chance.integers(1, 310, _count).tolist()
    (_folder / f"{_part}.txt").write_bytes(pickle.dumps((_clicks, _next)))
modules.put("networkx")
