"""Pictures of faces with where their parts are, and as much of OpenCV as is called."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _split, _count in (("train", 19), ("test", 9)):
    _folder = Path(f"data/{_split}_data")
    _folder.mkdir(parents=True, exist_ok=True)
    _lines = []
    for _number in range(_count):
        _path = f"{_folder}/{_number}.png"
        Image.fromarray(_chance.integers(0, 255, (112, 112, 3)).astype("uint8")).save(_path)
        _points = " ".join(f"{one:.4f}" for one in _chance.random(196))
        _kinds = " ".join(str(one) for one in _chance.integers(0, 2, 6))
        _angles = " ".join(f"{one:.4f}" for one in _chance.normal(size=3))
        _lines.append(f"{_path} {_points} {_kinds} {_angles}")
    (_folder / "list.txt").write_text("\n".join(_lines) + "\n")
Path("checkpoint/snapshot").mkdir(parents=True, exist_ok=True)
modules.put("cv2", imread=lambda path: numpy.asarray(Image.open(path).convert("RGB")))
