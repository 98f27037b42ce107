"""Clouds of points in files that are kept in memory, and the repository as the package that it is installed as."""

import os
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/modelnet40_ply_hdf5_2048")
_folder.mkdir(parents=True, exist_ok=True)
for _name in ("train0", "test0"):
    (_folder / f"ply_data_{_name}.h5").write_text("")
(_folder / "shape_names.txt").write_text("\n".join(f"shape{one}" for one in range(40)) + "\n")


class File(dict):
    def __init__(self, path, *_):
        count = 18 if "train" in str(path) else 6
        super().__init__(
            data=_chance.normal(size=(count, 2048, 3)).astype("float32"), label=_chance.integers(0, 40, (count, 1)),
        )  # fmt: skip

    def close(self):
        pass


modules.put("h5py", File=File)
modules.put("learning3d").__path__ = [os.getcwd()]
