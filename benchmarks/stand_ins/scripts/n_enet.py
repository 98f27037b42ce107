"""Streets, and what each pixel shows."""

from pathlib import Path

import made_up_data
import numpy
from PIL import Image

Path("out").mkdir(exist_ok=True)
chance = numpy.random.default_rng(0)
for part, count in (("train", 18), ("val", 6), ("test", 6)):
    made_up_data.folder_of_pictures(f"streets/{part}", count, 64, 0)
    Path(f"streets/{part}annot").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        Image.fromarray(chance.integers(0, 12, (64, 64)).astype("uint8")).save(f"streets/{part}annot/{number:04d}.png")
