"""Pictures, and for each a mask."""

from pathlib import Path

import made_up_data
import numpy
from PIL import Image

made_up_data.folder_of_pictures("data/imgs", 26, classes=0)
Path("data/masks").mkdir(parents=True, exist_ok=True)
_noise = numpy.random.default_rng(0)
for _number in range(26):
    Image.fromarray((_noise.random((32, 32)) < 0.4).astype("uint8")).save(f"data/masks/{_number:04d}.png")
