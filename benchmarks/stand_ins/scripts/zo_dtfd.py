"""Slides with some patches each, and the names of those that show a tumour."""

import os
import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
for _part, _count in (("train", 6), ("val", 4), ("test", 4)):
    _slides = {}
    for _number in range(_count):
        _kind = ("tumor", "normal")[_number % 2] if _part != "test" else "test"
        _patches = _chance.normal(_number % 2, 1, (int(_chance.integers(14, 20)), 1024)).astype("float32")
        _slides[f"{_kind}_{_number:03d}"] = [
            {"feature": one, "file_name": f"{i}.jpg"} for i, one in enumerate(_patches)
        ]
    Path(f"made/{_part}.pkl").write_bytes(pickle.dumps(_slides))
_listdir = os.listdir
os.listdir = lambda path=".": ["test_000.tif", "test_002.tif"] if path == "" else _listdir(path)
