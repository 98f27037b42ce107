"""Digits of two clients."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy
import pictures

for _client in range(2):
    for _part, _count in (("train", 23), ("test", 11)):
        _data, _labels = pictures.noise(_count, (1, 28, 28), 10, 2 * _client + (_part == "test"))
        _folder = Path("../dataset/mnist-made") / _part
        _folder.mkdir(parents=True, exist_ok=True)
        _kept = {"x": _data.astype("float32") / 255, "y": numpy.array(_labels)}
        numpy.savez(_folder / f"{_client}.npz", data=numpy.array(_kept, dtype=object))
