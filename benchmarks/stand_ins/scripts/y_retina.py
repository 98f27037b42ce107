"""Pictures of eyes with masks, smaller than the real ones, and as much of OpenCV as is called."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _split, _count in (("train", 9), ("test", 5)):
    for _name in ("image", "mask"):
        Path(f"../new_data/{_split}/{_name}").mkdir(parents=True, exist_ok=True)
    for _number in range(_count):
        _picture = _chance.integers(0, 255, (64, 64, 3)).astype("uint8")
        Image.fromarray(_picture).save(f"../new_data/{_split}/image/{_number}.png")
        _mask = numpy.kron(_chance.integers(0, 2, (8, 8)), numpy.full((8, 8), 255)).astype("uint8")
        Image.fromarray(_mask).save(f"../new_data/{_split}/mask/{_number}.png")
modules.put(
    "cv2", IMREAD_COLOR=1, IMREAD_GRAYSCALE=0,
    imread=lambda path, kind=1: numpy.asarray(Image.open(path).convert("RGB" if kind else "L")),
)  # fmt: skip
