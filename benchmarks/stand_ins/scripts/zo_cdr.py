"""Digits as arrays in files, and batches of eight of them."""

from pathlib import Path

import made_up_data
import numpy
import pictures

Path("data/mnist").mkdir(parents=True, exist_ok=True)
for _part, _count, _first in (("train", 33, 0), ("test", 19, 1)):
    _data, _labels = pictures.noise(_count, (28, 28), 10, 1 + _first)
    numpy.save(f"data/mnist/{_part}_images.npy", _data)
    numpy.save(f"data/mnist/{_part}_labels.npy", numpy.array(_labels) + _first)
made_up_data.smaller_batches(8)
