"""Digits of five kinds, as pickled pictures with their labels."""

import pickle
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_sizes = {"MNIST": (28, 28), "SVHN": (32, 32, 3), "USPS": (16, 16), "SynthDigits": (32, 32, 3), "MNIST_M": (28, 28, 3)}
for _name, _size in _sizes.items():
    _folder = Path(f"../data/{_name}")
    (_folder / "partitions").mkdir(parents=True, exist_ok=True)
    for _path, _count in (("partitions/train_part0.pkl", 70), ("test.pkl", 21)):
        _data = _chance.integers(0, 255, (_count, *_size)).astype("uint8"), _chance.integers(0, 10, _count)
        (_folder / _path).write_bytes(pickle.dumps(_data))
