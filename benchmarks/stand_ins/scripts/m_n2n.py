"""Pictures as files, and modules for formats that are not used."""

from pathlib import Path

import modules
import numpy
from PIL import Image

_noise = numpy.random.default_rng(0)
for _part, _count in {"tr": 24, "va": 8}.items():
    Path(_part).mkdir(exist_ok=True)
    for _number in range(_count):
        Image.fromarray(_noise.integers(0, 255, (40, 40, 3)).astype("uint8")).save(f"{_part}/{_number}.png")
for _name in ("OpenEXR", "Imath"):
    modules.put(_name)
