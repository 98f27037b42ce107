"""Clouds of points, as files that ``h5py`` would read."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_folder = Path("made/modelnet40_hdf5_2048")
_folder.mkdir(parents=True, exist_ok=True)
for _part, _count in (("train", 14), ("test", 4)):
    (_folder / f"{_part}0.h5").write_text(str(_count))


class File(dict):
    def __init__(self, path, *_):
        count = int(Path(path).read_text())
        chance = numpy.random.default_rng(count)
        super().__init__(data=chance.normal(size=(count, 2048, 3)), label=chance.integers(0, 4, (count, 1)))

    def close(self):
        pass


modules.put("h5py", File=File)
