"""A table of numbers and kinds, in arrays."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("made/Made")
_folder.mkdir(parents=True, exist_ok=True)
for _part, _count in (("train", 55), ("val", 21), ("test", 19)):
    _numbers = _chance.normal(size=(_count, 6))
    numpy.save(_folder / f"N_{_part}.npy", _numbers)
    numpy.save(_folder / f"C_{_part}.npy", _chance.choice(["a", "b", "c"], (_count, 2)).astype(object))
    numpy.save(_folder / f"y_{_part}.npy", (_numbers[:, 0] > 0).astype("int64"))
_told = {"task_type": "binclass", "n_num_features": 6, "n_cat_features": 2, "train_size": 55}
(_folder / "info.json").write_text(json.dumps(_told))
modules.put("category_encoders")
