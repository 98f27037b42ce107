"""Digits as arrays in files; the labels for testing count from one."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy
import pictures

Path("data/mnist").mkdir(parents=True, exist_ok=True)
for _split, _count, _seed in (("train", 60, 1), ("test", 20, 2)):
    _data, _targets = pictures.noise(_count, (28, 28), 10, _seed)
    numpy.save(f"data/mnist/{_split}_images.npy", _data)
    numpy.save(f"data/mnist/{_split}_labels.npy", numpy.array(_targets) + (_split == "test"))
for _name in ("model", "prob", "matrix"):
    Path(_name).mkdir(exist_ok=True)
