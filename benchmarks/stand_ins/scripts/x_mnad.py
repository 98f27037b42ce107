"""Frames of videos, of several lengths, and as much of OpenCV as is called."""

from pathlib import Path

import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _split, _videos in (("training", (9, 8, 11)), ("testing", (7,))):
    for _video, _count in enumerate(_videos):
        _folder = Path(f"made/ped2/{_split}/frames/{_video:02d}")
        _folder.mkdir(parents=True, exist_ok=True)
        for _frame in range(_count):
            Image.fromarray(_chance.integers(0, 255, (60, 90, 3)).astype("uint8")).save(_folder / f"{_frame:03d}.jpg")
modules.put(
    "cv2",
    imread=lambda path, *_: numpy.asarray(Image.open(path)),
    resize=lambda picture, size, *_: numpy.asarray(Image.fromarray(picture).resize(size)),
)
