"""Pictures of streets with segments, laid out as Cityscapes is."""

from pathlib import Path

import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _split, _count in (("train", 9), ("val", 3)):
    _pictures, _masks = (Path(f"datasets/citys/{one}/{_split}/aachen") for one in ("leftImg8bit", "gtFine"))
    _pictures.mkdir(parents=True, exist_ok=True)
    _masks.mkdir(parents=True, exist_ok=True)
    for _number in range(_count):
        _name = f"aachen_{_number:06d}_000019"
        Image.fromarray(_chance.integers(0, 255, (96, 192, 3)).astype("uint8")).save(
            _pictures / f"{_name}_leftImg8bit.png"
        )
        _mask = numpy.kron(_chance.integers(0, 34, (12, 24)), numpy.ones((8, 8))).astype("uint8")
        Image.fromarray(_mask).save(_masks / f"{_name}_gtFine_labelIds.png")
