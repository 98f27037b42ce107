"""Streets and their segments as files."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _part, _count in (("train", 13), ("val", 5), ("test", 4)):
    for _folder in (_part, f"{_part}annot"):
        Path(f"made/{_folder}").mkdir(parents=True, exist_ok=True)
    for _number in range(_count):
        Image.fromarray(_chance.integers(0, 255, (36, 48, 3)).astype("uint8")).save(f"made/{_part}/{_number:02d}.png")
        _segments = numpy.kron(_chance.integers(0, 12, (6, 8)), numpy.ones((6, 6))).astype("uint8")
        Image.fromarray(_segments).save(f"made/{_part}annot/{_number:02d}.png")
