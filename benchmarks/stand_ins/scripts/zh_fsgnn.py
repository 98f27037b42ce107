"""Letters of many alphabets."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_place = Path("datasets/compacted_datasets")
_place.mkdir(parents=True, exist_ok=True)
for _seed, _part in enumerate(("train", "test")):
    _chance = numpy.random.default_rng(_seed)
    _letters = {one: [(_chance.random((28, 28)) > 0.8).astype("float32") for _ in range(20)] for one in range(5)}
    (_place / f"omniglot_{_part}.pickle").write_bytes(pickle.dumps(_letters))
