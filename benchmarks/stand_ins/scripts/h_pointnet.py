"""Clouds of points of two kinds of things."""

import json
from pathlib import Path

import modules
import numpy

modules.put("plyfile")
_noise = numpy.random.default_rng(0)
_kinds = {"Airplane": "01", "Chair": "02"}
Path("made/train_test_split").mkdir(parents=True, exist_ok=True)
Path("made/synsetoffset2category.txt").write_text("".join(f"{name}\t{code}\n" for name, code in _kinds.items()))
for _name, _count in (("train", 60), ("test", 20), ("val", 8)):
    _files = []
    for _number in range(_count):
        _code = ("01", "02")[_number % 2]
        for _folder in ("points", "points_label"):
            Path(f"made/{_code}/{_folder}").mkdir(parents=True, exist_ok=True)
        numpy.savetxt(f"made/{_code}/points/{_name}{_number}.pts", _noise.normal(size=(40, 3)))
        numpy.savetxt(f"made/{_code}/points_label/{_name}{_number}.seg", _noise.integers(1, 4, 40), fmt="%d")
        _files.append(f"shape_data/{_code}/{_name}{_number}")
    Path(f"made/train_test_split/shuffled_{_name}_file_list.json").write_text(json.dumps(_files))
