"""Clouds of 140 points of forty shapes, and an old name of SciPy."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import scipy.spatial.transform

for _split, _count in (("train", 22), ("test", 10)):
    _folder = Path("data/modelnet40_ply_hdf5_2048")
    _folder.mkdir(parents=True, exist_ok=True)
    (_folder / f"ply_data_{_split}0.h5").write_text(str(_count))


class _File(dict):
    def __init__(self, path, *_):
        count = int(Path(path).read_text())
        chance = numpy.random.default_rng(count)
        labels = chance.integers(0, 40, (count, 1))
        super().__init__(data=chance.normal(size=(count, 140, 3)) + labels[:, None] / 40, label=labels)

    def close(self):
        pass


class _Rotation(scipy.spatial.transform.Rotation):
    from_dcm = scipy.spatial.transform.Rotation.from_matrix


try:
    scipy.spatial.transform.Rotation.from_dcm = scipy.spatial.transform.Rotation.from_matrix
except TypeError:
    scipy.spatial.transform.Rotation = _Rotation
modules.put("h5py", File=_File)
