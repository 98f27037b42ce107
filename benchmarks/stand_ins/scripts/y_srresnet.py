"""Small pictures and larger ones of the same, in place of a file of HDF5."""

import modules
import numpy

_chance = numpy.random.default_rng(0)
_large = _chance.random((14, 3, 64, 64)).astype("float32")
_data = {"data": _large[:, :, ::4, ::4].copy(), "label": _large}


class File(dict):
    def __init__(self, *_, **__):
        super().__init__(_data)


modules.put("h5py", File=File)
