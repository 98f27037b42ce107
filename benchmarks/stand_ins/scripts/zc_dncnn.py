"""Patches of noise and whole pictures, in place of files that ``h5py`` would read, and a measure of quality."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


class _Patch:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class File(dict):
    def __init__(self, path, _mode):
        shape, count = ((1, 24, 24), 37) if "train" in path else ((1, 32, 40), 3)
        super().__init__({str(one): _Patch(_chance.random(shape).astype("float32")) for one in range(count)})

    def close(self):
        pass


modules.put("h5py", File=File)
modules.put("cv2")


def _quality(true, told, data_range):
    return float(10 * numpy.log10(data_range**2 / ((true - told) ** 2).mean()))


modules.put("skimage.measure.simple_metrics", compare_psnr=_quality)

Path("logs").mkdir(exist_ok=True)
