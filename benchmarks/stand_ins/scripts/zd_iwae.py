"""Pictures of digits as numbers between 0 and 1, in one file."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
for _folder in ("data", "output/model"):
    Path(_folder).mkdir(parents=True, exist_ok=True)
_data = {
    f"{part}_{kind}": _chance.random((count, 784)) if kind == "image" else _chance.integers(0, 10, count)
    for part, count in (("train", 2000), ("test", 1000))
    for kind in ("image", "label")
}
Path("data/data.pkl").write_bytes(pickle.dumps(_data))
