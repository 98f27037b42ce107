"""Clouds of 140 points, of shapes of several kinds, as files that ``h5py`` would read."""

from pathlib import Path

import modules
import numpy

_FOLDER = Path("data/modelnet40_ply_hdf5_2048")


def put(train: int, test: int, kinds: int) -> None:
    """Write how many clouds each file has, and stand in for the package that reads them."""
    for split, count in (("train", train), ("test", test)):
        _FOLDER.mkdir(parents=True, exist_ok=True)
        (_FOLDER / f"ply_data_{split}0.h5").write_text(str(count))

    class File(dict):
        def __init__(self, path, *_):
            count = int(Path(path).read_text())
            chance = numpy.random.default_rng(count)
            labels = chance.integers(0, kinds, (count, 1))
            super().__init__(data=chance.normal(size=(count, 140, 3)) + labels[:, None] / kinds, label=labels)

        def close(self):
            pass

    modules.put("h5py", File=File)
