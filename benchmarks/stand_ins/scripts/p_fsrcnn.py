"""Pictures in two sizes."""

import h5py
import numpy

_noise = numpy.random.default_rng(0)
with h5py.File("train.h5", "w") as _file:
    _file["lr"] = _noise.integers(0, 255, (44, 10, 10)).astype("float32")
    _file["hr"] = _noise.integers(0, 255, (44, 20, 20)).astype("float32")
with h5py.File("eval.h5", "w") as _file:
    for _number in range(6):
        _file[f"lr/{_number}"] = _noise.integers(0, 255, (16, 16)).astype("float32")
        _file[f"hr/{_number}"] = _noise.integers(0, 255, (32, 32)).astype("float32")
