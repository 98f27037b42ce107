"""Digits of four users, of several numbers, and a file of arrays that is kept in memory."""

import json
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
for _split, _counts in (("train", (33, 18, 40, 25)), ("test", (9, 6, 11, 7))):
    _folder = Path(f"data/Mnist/data/{_split}")
    _folder.mkdir(parents=True, exist_ok=True)
    _users = [f"f_0000{one}" for one in range(len(_counts))]
    _data = {
        user: {"x": _chance.normal(size=(count, 784)).round(3).tolist(), "y": _chance.integers(0, 10, count).tolist()}
        for user, count in zip(_users, _counts, strict=True)
    }
    (_folder / "all.json").write_text(json.dumps({"users": _users, "num_samples": list(_counts), "user_data": _data}))
Path("results").mkdir(exist_ok=True)
_kept = {}


class File(dict):
    def __init__(self, path, mode="r"):
        super().__init__() if mode == "w" else super().__init__(_kept.get(str(path), {}))
        _kept[str(path)] = self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def create_dataset(self, name, data=None):
        self[name] = numpy.asarray(data)

    def close(self):
        pass


modules.put("h5py", File=File)
modules.put("mpl_toolkits.axes_grid1.inset_locator")
