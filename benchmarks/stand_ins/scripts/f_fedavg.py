"""The files of MNIST, in a folder whose name is a path of another system."""

import gzip
import struct
from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_place = Path(r".\data\MNIST")
_place.mkdir(exist_ok=True)
for _name, _count in (("train", 176), ("t10k", 150)):
    with gzip.open(_place / f"{_name}-images-idx3-ubyte.gz", "wb") as _file:
        _file.write(
            struct.pack(">4I", 2051, _count, 28, 28)
            + _noise.integers(0, 255, (_count, 28, 28), dtype="uint8").tobytes()
        )
    with gzip.open(_place / f"{_name}-labels-idx1-ubyte.gz", "wb") as _file:
        _file.write(struct.pack(">2I", 2049, _count) + _noise.integers(0, 10, _count, dtype="uint8").tobytes())
