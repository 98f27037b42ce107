"""Pictures in two sizes, of which those for testing differ in size."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
_sizes = [(24, 28)] * 9 + [(20, 24), (24, 20), (28, 24)]
for _number, (_height, _width) in enumerate(_sizes, 1):
    for _folder, _name, _times in (("HR", f"{_number:04d}", 2), ("LR_bicubic/X2", f"{_number:04d}x2", 1)):
        _place = Path(f"../made/DIV2K/DIV2K_train_{_folder}")
        _place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(_chance.integers(0, 255, (_height * _times, _width * _times, 3)).astype("uint8")).save(
            _place / f"{_name}.png"
        )
modules.put("imageio", imread=lambda path: numpy.asarray(Image.open(path)))
modules.put("skimage.color")
