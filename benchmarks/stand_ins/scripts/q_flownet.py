"""Twelve pairs of pictures and what moved between them."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

Path("made").mkdir(exist_ok=True)
_chance = numpy.random.default_rng(0)
for _number in range(12):
    for _one in (1, 2):
        _picture = Image.fromarray(_chance.integers(0, 255, (340, 470, 3)).astype("uint8"))
        _picture.save(f"made/{_number:05d}_img{_one}.ppm")
    with open(f"made/{_number:05d}_flow.flo", "wb") as _file:
        numpy.asarray([202021.25], "float32").tofile(_file)
        numpy.asarray([470, 340], "int32").tofile(_file)
        _chance.normal(size=(340, 470, 2)).astype("float32").tofile(_file)
modules.put("imageio", imread=lambda path: numpy.asarray(Image.open(path)))
