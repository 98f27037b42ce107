"""Scans with segments in twice their width and height, and as much of the library that reads them as is called."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
Path("experiments").mkdir(exist_ok=True)
for _split, _count in (("train", 5), ("val", 2)):
    _lines = []
    for _number in range(_count):
        _depth = 16 if _split == "train" else int(_chance.choice([16, 32]))
        _names = [f"made/{_split}_{_number}_{one}.npy" for one in ("ct", "seg")]
        numpy.save(_names[0], _chance.integers(-200, 200, (_depth, 16, 16)).astype("int16"))
        numpy.save(_names[1], _chance.integers(0, 2, (_depth, 32, 32)).astype("uint8"))
        _lines.append(" ".join(_names))
    Path(f"made/{_split}_path_list.txt").write_text("\n".join(_lines) + "\n")
modules.put(
    "SimpleITK", ReadImage=lambda path, *_: numpy.load(path), GetArrayFromImage=lambda found: found,
    sitkInt16=1, sitkUInt8=2,
)  # fmt: skip
