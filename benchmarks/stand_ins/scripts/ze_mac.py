"""Features of pictures, questions about them, and an old name of the standard library."""

import collections
import collections.abc
import pickle
from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
_COUNTS = {"train": 15, "val": 8}


class File(dict):
    def __init__(self, path, _):
        count = _COUNTS[Path(path).name.partition("_")[0]]
        super().__init__(data=numpy.random.default_rng(count).random((count, 1024, 14, 14)).astype("float32"))

    def close(self):
        pass


for _name in ("data", "log", "checkpoint"):
    Path(_name).mkdir(exist_ok=True)
for _part, _count in _COUNTS.items():
    _asked = [
        (
            f"CLEVR_{_part}_{number:06d}.png",
            _chance.integers(1, 20, _chance.integers(4, 7)).tolist(),
            int(_chance.integers(5)),
            "count",
        )
        for number in range(_count)
    ]
    Path(f"data/{_part}.pkl").write_bytes(pickle.dumps(_asked))
_words = {
    "word_dic": {f"w{number}": number for number in range(1, 20)},
    "answer_dic": {f"a{kind}": kind for kind in range(5)},
}
Path("data/dic.pkl").write_bytes(pickle.dumps(_words))
made_up_data.smaller_batches(6)
collections.Iterable = collections.abc.Iterable
modules.put("h5py", File=File)
