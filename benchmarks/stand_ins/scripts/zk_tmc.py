"""Six views of written digits, as numbers, and what an older library took."""

from pathlib import Path

import numpy
import scipy.io
import sklearn.preprocessing

_chance = numpy.random.default_rng(0)
Path("datasets").mkdir(exist_ok=True)
_kept = {}
for _split, _count in (("train", 44), ("test", 19)):
    for _number, _size in enumerate((240, 76, 216, 47, 64, 6), 1):
        _kept[f"x{_number}_{_split}"] = _chance.normal(size=(_count, _size))
    _kept[f"gt_{_split}"] = _chance.integers(0, 10, (_count, 1))
scipy.io.savemat("datasets/handwritten_6views.mat", _kept)


class Scaler(sklearn.preprocessing.MinMaxScaler):
    def __init__(self, feature_range=(0, 1)):
        super().__init__(feature_range=tuple(feature_range))


sklearn.preprocessing.MinMaxScaler = Scaler
