"""Five sensors in a ring."""

import pickle
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("data/made").mkdir(parents=True, exist_ok=True)
Path("garage").mkdir(exist_ok=True)
for _split, _count in (("train", 46), ("val", 19), ("test", 11)):
    numpy.savez(
        f"data/made/{_split}.npz", x=_chance.random((_count, 12, 5, 2)) * 60, y=_chance.random((_count, 12, 5, 2)) * 60
    )
_near = (numpy.eye(5) + numpy.roll(numpy.eye(5), 1, 1)).astype("float32")
Path("data/adj.pkl").write_bytes(pickle.dumps(([str(one) for one in range(5)], {}, _near)))


def _change(module):
    module.Conv1d = module.Conv2d  # kernels of two dimensions were taken once


import modules  # noqa: E402

modules.when_imported("torch.nn", _change)
