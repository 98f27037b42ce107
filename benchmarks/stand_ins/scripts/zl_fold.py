"""Things as points, of several counts, and smaller batches."""

import json
from pathlib import Path

import made_up_data
import modules
import numpy

made_up_data.smaller_batches(2)
modules.put("mpl_toolkits.mplot3d")
_chance = numpy.random.default_rng(0)
_root = Path("data/shapenetcore_partanno_segmentation_benchmark_v0")
(_root / "train_test_split").mkdir(parents=True, exist_ok=True)
(_root / "synsetoffset2category.txt").write_text("Airplane\t02691156\nBag\t02773838\n")
for _split, _count in (("train", 9), ("test", 5)):
    _names = []
    for _number in range(_count):
        _kind, _points = ("02691156", "02773838")[_number % 2], int(_chance.integers(80, 140))
        for _part in ("points", "points_label"):
            (_root / _kind / _part).mkdir(parents=True, exist_ok=True)
        numpy.savetxt(_root / _kind / "points" / f"{_split}{_number}.pts", _chance.normal(size=(_points, 3)))
        numpy.savetxt(_root / _kind / "points_label" / f"{_split}{_number}.seg", numpy.ones(_points), fmt="%d")
        _names.append(f"shape_data/{_kind}/{_split}{_number}")
    (_root / "train_test_split" / f"shuffled_{_split}_file_list.json").write_text(json.dumps(_names))
