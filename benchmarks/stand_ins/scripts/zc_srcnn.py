"""Patches and whole pictures, in place of files that ``h5py`` would read."""

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


class File(dict):
    def __init__(self, path, _mode):
        shapes = [(24, 30), (24, 30), (36, 24)] if "val" in path else [(33, 33)] * 37
        for name in ("lr", "hr"):
            self[name] = {str(one): _chance.random(shape).astype("float32") * 255 for one, shape in enumerate(shapes)}
            if "val" not in path:
                self[name] = [self[name][str(one)] for one in range(37)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


modules.put("h5py", File=File)
